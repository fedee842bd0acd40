package io.fairlead.rocketmq;

import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * Where RocketMQ would begin to read queues that the member is to take. An answer counts for who has
 * asked: one that comes when the queue is another's again would lead back to that time.
 */
final class AskedStarts {
  private final Map<MessageQueue, Object> asked = new HashMap<>();
  private final Map<Object, Long> told = new ConcurrentHashMap<>();

  /** Returns who takes the answer, on any thread; null if the queue is asked about already. */
  Consumer<Long> ask(MessageQueue queue) {
    if (asked.containsKey(queue)) {
      return null;
    }
    Object question = new Object();
    asked.put(queue, question);
    return offset -> told.put(question, offset);
  }

  /** Returns the answer, once; null if there is none yet, or RocketMQ could not tell. */
  Long take(MessageQueue queue) {
    Object question = asked.get(queue);
    Long offset = question == null ? null : told.remove(question);
    if (offset == null) {
      return null;
    }
    asked.remove(queue);
    return offset < 0 ? null : offset;
  }

  /** Forgets the questions about all other queues. */
  void keep(Collection<MessageQueue> queues) {
    asked.keySet().retainAll(queues);
    told.keySet().retainAll(asked.values());
  }
}
