package io.fairlead.rocketmq;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.rocketmq.client.consumer.AllocateMessageQueueStrategy;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * The queues that the member holds. As RocketMQ's strategy it answers exactly these, so that a
 * rebalance of RocketMQ finds nothing to change.
 */
final class HeldQueues implements AllocateMessageQueueStrategy {
  private static final Logger LOG = Logger.getLogger("io.fairlead.rocketmq");

  private final ConcurrentMap<MessageQueue, HeldQueue> works = new ConcurrentHashMap<>();
  private final ConcurrentMap<String, Collection<MessageQueue>> wanted = new ConcurrentHashMap<>();
  private final AllocateMessageQueueStrategy former;

  /** Takes RocketMQ's former strategy; null if the member does not stand by. */
  HeldQueues(AllocateMessageQueueStrategy former) {
    this.former = former;
  }

  /** Returns what the former strategy would have the client read. */
  Set<MessageQueue> wanted() {
    Set<MessageQueue> result = new HashSet<>();
    wanted.values().forEach(result::addAll);
    return result;
  }

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

  /**
   * Wants what is held, until RocketMQ asks the former strategy again: what that said last, before
   * the engine gave the group back, rests on members of that time.
   */
  void wantWhatIsHeld() {
    for (String topic : wanted.keySet()) {
      wanted.put(topic, new ArrayList<>(of(topic)));
    }
  }

  @Override
  public List<MessageQueue> allocate(
      String group, String clientId, List<MessageQueue> queues, List<String> clients) {
    if (queues.isEmpty()) {
      return new ArrayList<>();
    }
    String topic = queues.get(0).getTopic();
    if (former != null) {
      try {
        List<MessageQueue> share = former.allocate(group, clientId, queues, clients);
        wanted.put(topic, share == null ? new ArrayList<>() : new ArrayList<>(share));
      } catch (RuntimeException error) {
        // As RocketMQ itself: what it said before counts.
        LOG.log(Level.WARNING, former.getName() + " failed for " + topic, error);
      }
    }
    return new ArrayList<>(of(topic));
  }

  @Override
  public String getName() {
    return "FAIRLEAD";
  }

  /** Tells whoever asks RocketMQ's client for its strategy which one decides now. */
  @Override
  public String toString() {
    boolean granted = works.values().stream().anyMatch(HeldQueue::isGranted);
    return former == null || granted ? super.toString() : former.toString();
  }
}
