package io.fairlead.rocketmq;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.rocketmq.client.consumer.store.OffsetStore;
import org.apache.rocketmq.client.consumer.store.ReadOffsetType;
import org.apache.rocketmq.client.exception.MQBrokerException;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.remoting.exception.RemotingException;

/**
 * The offsets of the held queues, as their gates know them. Each commit waits for the broker's
 * answer: RocketMQ's own persist does not, and the next owner may be told an older offset.
 */
public final class GrantedOffsets implements OffsetStore {
  private static final Logger LOG = Logger.getLogger("io.fairlead.rocketmq");

  private final HeldQueues held;
  private final Supplier<OffsetStore> made;
  private final Counters counters;
  private volatile OffsetStore broker;

  GrantedOffsets(HeldQueues held, Supplier<OffsetStore> made, Counters counters) {
    this.held = held;
    this.made = made;
    this.counters = counters;
  }

  @Override
  public void load() throws MQClientException {
    // RocketMQ has its connections by now, and not before.
    broker = made.get();
    broker.load();
  }

  @Override
  public void updateOffset(MessageQueue queue, long offset, boolean increaseOnly) {
    HeldQueue work = held.at(queue);
    if (work == null || work.pulled) {
      return;
    }
    if (work.messages.isDropped() && !increaseOnly) {
      // A reset, or an offset that the broker does not have: RocketMQ drops the queue before it.
      work.movedTo = offset;
    } else {
      work.passed(offset);
    }
  }

  /** As RocketMQ 5 has it; there it is a method of the interface, in 4.9 it is not. */
  public void updateAndFreezeOffset(MessageQueue queue, long offset) {
    updateOffset(queue, offset, false);
  }

  @Override
  public long readOffset(MessageQueue queue, ReadOffsetType type) {
    HeldQueue work = held.at(queue);
    return work == null ? broker.readOffset(queue, type) : work.gate.position();
  }

  @Override
  public void persistAll(Set<MessageQueue> queues) {
    for (MessageQueue queue : queues) {
      persist(queue);
    }
  }

  @Override
  public void persist(MessageQueue queue) {
    HeldQueue work = held.at(queue);
    if (work != null && work.adopted && !work.gate.isClosed()) {
      commit(work);
    }
  }

  /** Commits how far the work is, and returns once the broker has it, or does not take it. */
  void commit(HeldQueue work) {
    synchronized (work.commit) {
      // Not before: whoever waits here would put back what another thread has committed since.
      long position = work.gate.position();
      if (position == work.committed) {
        return;
      }
      try {
        updateConsumeOffsetToBroker(work.queue, position, false);
        work.committed = position;
      } catch (RemotingException | MQBrokerException | MQClientException | RuntimeException error) {
        counters.add(Counters.Thing.FAILED_COMMITS);
        LOG.log(Level.WARNING, work.name + ": offset " + position + " is not committed", error);
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  @Override
  public void removeOffset(MessageQueue queue) {
    // The gate goes with the work, and the offset with the gate.
  }

  @Override
  public Map<MessageQueue, Long> cloneOffsetTable(String topic) {
    Map<MessageQueue, Long> result = new HashMap<>();
    for (HeldQueue work : held.all()) {
      if (topic == null || topic.isEmpty() || topic.equals(work.queue.getTopic())) {
        result.put(work.queue, work.gate.position());
      }
    }
    return result;
  }

  @Override
  public void updateConsumeOffsetToBroker(MessageQueue queue, long offset, boolean oneway)
      throws RemotingException, MQBrokerException, InterruptedException, MQClientException {
    broker.updateConsumeOffsetToBroker(queue, offset, oneway);
  }
}
