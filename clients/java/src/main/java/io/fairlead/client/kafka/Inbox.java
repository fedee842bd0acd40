package io.fairlead.client.kafka;

import io.fairlead.client.WorkListener;
import io.fairlead.client.session.Action;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.apache.kafka.clients.consumer.Consumer;

/** What the member says, until the application's thread takes it; it wakes that thread. */
final class Inbox implements WorkListener {
  private final Consumer<?, ?> consumer;
  private final Queue<Action> actions = new ArrayDeque<>();
  private boolean fetching;
  private boolean rung;

  Inbox(Consumer<?, ?> consumer) {
    this.consumer = consumer;
  }

  @Override
  public synchronized void onAction(Action action) {
    actions.add(action);
    ring();
  }

  /** Wakes the application's thread, or lets its next wait return at once. */
  synchronized void ring() {
    rung = true;
    notifyAll();
    if (fetching) {
      fetching = false;
      consumer.wakeup();
    }
  }

  /** Returns all that has come, in order. */
  synchronized List<Action> drain() {
    List<Action> result = new ArrayList<>(actions);
    actions.clear();
    return result;
  }

  /** Waits until something comes. */
  synchronized void await(long timeoutMs) throws InterruptedException {
    if (!rung && timeoutMs > 0) {
      wait(timeoutMs);
    }
    rung = false;
  }

  /** From now on news wake the consumer; returns false if there are some already. */
  synchronized boolean beginFetch() {
    fetching = !rung;
    rung = false;
    return fetching;
  }

  /** From now on nobody wakes the consumer. */
  synchronized void endFetch() {
    fetching = false;
  }
}
