package io.fairlead.rocketmq;

import io.fairlead.client.session.Epoch;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.rocketmq.common.message.MessageQueue;

/** An observer whose failures stop nobody: no queue waits for a journal that is full. */
final class QuietObserver implements QueueObserver {
  private static final Logger LOG = Logger.getLogger("io.fairlead.rocketmq");

  private final QueueObserver observer;

  QuietObserver(QueueObserver observer) {
    this.observer = observer;
  }

  @Override
  public void started(MessageQueue queue, Epoch epoch, long offset) {
    tell(() -> observer.started(queue, epoch, offset));
  }

  @Override
  public void passed(MessageQueue queue, Epoch epoch, long offset, long end, String why) {
    tell(() -> observer.passed(queue, epoch, offset, end, why));
  }

  @Override
  public void stopped(MessageQueue queue, Epoch epoch, long offset) {
    tell(() -> observer.stopped(queue, epoch, offset));
  }

  private static void tell(Runnable words) {
    try {
      words.run();
    } catch (RuntimeException | Error failure) {
      LOG.log(Level.WARNING, "the observer failed", failure);
    }
  }
}
