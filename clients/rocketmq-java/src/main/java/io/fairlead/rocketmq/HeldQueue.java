package io.fairlead.rocketmq;

import io.fairlead.client.session.WorkName;
import io.fairlead.rocketmq.gate.QueueGate;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.BooleanSupplier;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.client.impl.consumer.ProcessQueue;

/** One queue under one epoch: the gate, and the process queue that feeds it. */
final class HeldQueue {
  final WorkName name;
  final MessageQueue queue;
  final QueueGate gate;
  final ProcessQueue messages = new FetchedMessages();

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
  long nextTryMs;
  long committed = -1;
  long reported;
  QueueGate former;

  HeldQueue(WorkName name, long offset, BooleanSupplier lease, Runnable quiet) {
    this.name = name;
    queue = new MessageQueue(name.queue.topic, name.queue.brokerName, name.queue.id);
    gate = new QueueGate(offset, lease, () -> messages.setDropped(true), quiet);
    reported = offset;
  }

  /** A call of the listener has ended. */
  void leave(List<Long> finished, List<Long> putBack) {
    gate.leave(finished, putBack);
    unfinished.keySet().removeAll(finished);
  }

  /** RocketMQ needs nothing below this offset any more. */
  void passed(long offset) {
    gate.passed(offset);
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
      }
      gate.fetched(offsets(fetched));
      return super.putMessage(fetched);
    }
  }
}
