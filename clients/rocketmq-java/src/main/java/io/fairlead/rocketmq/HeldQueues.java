package io.fairlead.rocketmq;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.apache.rocketmq.client.consumer.AllocateMessageQueueStrategy;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * The queues that the member holds. As RocketMQ's strategy it answers exactly these, so that a
 * rebalance of RocketMQ finds nothing to change.
 */
final class HeldQueues implements AllocateMessageQueueStrategy {
  private final ConcurrentMap<MessageQueue, HeldQueue> works = new ConcurrentHashMap<>();

  void put(HeldQueue work) {
    works.put(work.queue, work);
  }

  void remove(HeldQueue work) {
    works.remove(work.queue, work);
  }

  HeldQueue at(MessageQueue queue) {
    return works.get(queue);
  }

  Collection<HeldQueue> all() {
    return works.values();
  }

  /** Returns the queues of a topic that RocketMQ is to read. */
  Set<MessageQueue> of(String topic) {
    Set<MessageQueue> result = new HashSet<>();
    for (HeldQueue work : works.values()) {
      if (work.queue.getTopic().equals(topic) && work.adopted && !work.takenAway) {
        result.add(work.queue);
      }
    }
    return result;
  }

  @Override
  public List<MessageQueue> allocate(
      String group, String clientId, List<MessageQueue> queues, List<String> clients) {
    return queues.isEmpty()
        ? new ArrayList<>()
        : new ArrayList<>(of(queues.get(0).getTopic()));
  }

  @Override
  public String getName() {
    return "FAIRLEAD";
  }
}
