package io.fairlead.rocketmq;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
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

  @Override
  public List<MessageQueue> allocate(
      String group, String clientId, List<MessageQueue> queues, List<String> clients) {
    List<MessageQueue> result = new ArrayList<>();
    for (HeldQueue work : works.values()) {
      boolean isOfTopic = !queues.isEmpty() && queues.get(0).getTopic().equals(work.name.queue.topic);
      if (isOfTopic && work.adopted && !work.takenAway) {
        result.add(work.queue);
      }
    }
    return result;
  }

  @Override
  public String getName() {
    return "FAIRLEAD";
  }
}
