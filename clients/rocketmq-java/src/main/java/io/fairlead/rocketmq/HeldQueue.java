package io.fairlead.rocketmq;

import io.fairlead.client.session.Epoch;
import io.fairlead.client.session.WorkName;
import io.fairlead.rocketmq.gate.QueueGate;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Predicate;
import org.apache.rocketmq.common.message.MessageConst;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.client.impl.consumer.ProcessQueue;

/** One queue under one epoch: the gate, and the process queue that feeds it. */
final class HeldQueue {
  volatile WorkName name;
  final MessageQueue queue;
  final QueueGate gate;
  final ProcessQueue messages = new FetchedMessages();
  final QueueObserver observer;

  /** What is fetched and not finished, for the messages that a closing gate has left out. */
  final ConcurrentMap<Long, MessageExt> unfinished = new ConcurrentHashMap<>();

  /** Messages that an ordered listener without auto-commit has processed and not committed. */
  final List<Long> uncommitted = new ArrayList<>();

  volatile boolean adopted;
  volatile boolean takenAway;
  volatile long movedTo = -1;
  volatile boolean draining;
  long takenAwayMs;
  boolean stopping;
  boolean lost;
  volatile boolean kept;

  /** A lite pull consumer feeds it: what RocketMQ says of its offset does not count. */
  boolean pulled;

  volatile boolean errand;
  volatile boolean locked;
  volatile boolean parted;
  volatile long nextTryMs;
  volatile long brokerEnd = -1;
  /**
   * Held while a commit waits for the broker. The threads that bring messages bring answers as well,
   * so they must not wait for it: they take the lock of this object.
   */
  final Object commit = new Object();

  long committed = -1;
  long reported;
  HeldQueue former;
  private volatile long end = -1;
  private boolean told;
  private Epoch toldEpoch;
  private long seen;

  HeldQueue(
      WorkName name,
      long offset,
      Predicate<HeldQueue> lease,
      Runnable quiet,
      QueueObserver observer) {
    this.name = name;
    this.observer = observer;
    queue = new MessageQueue(name.queue.topic, name.queue.brokerName, name.queue.id);
    gate =
        new QueueGate(
            offset, () -> lease.test(this), () -> messages.setDropped(true), quiet);
    reported = offset;
    seen = offset;
  }

  /** Goes on under another name; the observer hears of names that an engine gave. */
  void rename(WorkName other) {
    tellStopped();
    name = other;
  }

  boolean isGranted() {
    return !name.epoch.equals(Following.NOBODY);
  }

  /** The observer hears, once, that the work begins under this name. */
  void tellStarted() {
    if (!told && isGranted()) {
      told = true;
      toldEpoch = name.epoch;
      observer.started(queue, toldEpoch, gate.position());
    }
  }

  /** The observer hears that the work has ended, if it has heard that it began. */
  void tellStopped() {
    if (told) {
      told = false;
      observer.stopped(queue, toldEpoch, gate.position());
    }
  }

  /** The work goes on as another one of the same epoch, from an offset on. */
  void goOn(HeldQueue as, long offset) {
    // A call that came between the lease's end and the decision to keep it may have closed its gate.
    as.kept = kept;
    as.told = told;
    as.toldEpoch = toldEpoch;
    told = false;
    if (offset > gate.position()) {
      observer.passed(queue, name.epoch, gate.position(), offset, "moved");
    }
  }

  private synchronized void skip(long offset) {
    if (offset > seen) {
      observer.passed(queue, name.epoch, seen, offset, "filtered");
      seen = offset;
    }
  }

  /** Notes messages that came from the broker, in their order. */
  void fetched(List<MessageExt> messages) {
    for (Long offset : offsets(messages)) {
      synchronized (this) {
        skip(offset);
        seen = Math.max(seen, offset + 1);
      }
    }
    gate.fetched(offsets(messages));
  }

  /** Returns the next offset to be written, as the newest fetch told it; null if it is older. */
  Long endFrom(long position) {
    long known = end;
    return known < position ? null : known;
  }

  /** A call of the listener has ended. */
  void leave(List<Long> finished, List<Long> putBack) {
    gate.leave(finished, putBack);
    unfinished.keySet().removeAll(finished);
  }

  /** RocketMQ needs nothing below this offset any more. */
  void passed(long offset) {
    List<Long> sentBack = gate.passed(offset);
    if (sentBack != null) {
      for (Long each : sentBack) {
        observer.passed(queue, name.epoch, each, each + 1, "sent_back");
      }
      skip(offset);
    }
    long position = gate.position();
    unfinished.keySet().removeIf(each -> each < position);
  }

  static List<Long> offsets(List<MessageExt> messages) {
    List<Long> result = new ArrayList<>(messages.size());
    for (MessageExt message : messages) {
      result.add(message.getQueueOffset());
    }
    return result;
  }

  /** Tells the gate what is fetched, before a thread can have it. */
  private final class FetchedMessages extends ProcessQueue {
    @Override
    public boolean putMessage(List<MessageExt> fetched) {
      for (MessageExt message : fetched) {
        unfinished.put(message.getQueueOffset(), message);
        String told = message.getProperty(MessageConst.PROPERTY_MAX_OFFSET);
        end = told == null ? end : Math.max(end, Long.parseLong(told));
      }
      HeldQueue.this.fetched(fetched);
      return super.putMessage(fetched);
    }
  }
}
