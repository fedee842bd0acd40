package io.fairlead.rocketmq;

import static io.fairlead.rocketmq.Rules.same;

import io.fairlead.client.session.Epoch;
import io.fairlead.client.session.QueueName;
import io.fairlead.client.session.WorkName;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.rocketmq.client.consumer.store.OffsetStore;
import org.apache.rocketmq.client.consumer.store.ReadOffsetType;
import org.apache.rocketmq.client.exception.MQBrokerException;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;

/** The rules of the offsets that RocketMQ sees and the broker gets. */
final class OffsetChecks {
  private static final MessageQueue QUEUE = new MessageQueue("orders", "broker-a", 3);

  private final HeldQueues held = new HeldQueues(null);
  private final Broker broker = new Broker();
  private final Counters counters = new Counters();
  private final GrantedOffsets offsets = new GrantedOffsets(held, () -> broker, counters);
  private final List<String> passed = new ArrayList<>();
  private final HeldQueue work;

  OffsetChecks() {
    WorkName name = new WorkName(new QueueName("orders", "broker-a", 3), new Epoch(1, 7));
    QueueObserver observer =
        new QueueObserver() {
          @Override
          public void passed(MessageQueue queue, Epoch epoch, long offset, long end, String why) {
            passed.add(offset + "-" + end + " " + why);
          }
        };
    work = new HeldQueue(name, 100, any -> true, () -> {}, observer);
    work.adopted = true;
    held.put(work);
    try {
      offsets.load();
    } catch (MQClientException error) {
      throw new IllegalStateException(error);
    }
  }

  void ruleACommitAwaitsTheBroker() {
    process(100);
    offsets.commit(work);
    same("[101]", broker.awaited.toString());
    same("[]", broker.oneway.toString());
  }

  void ruleAPositionIsCommittedOnce() {
    process(100);
    offsets.persist(QUEUE);
    offsets.persistAll(Collections.singleton(QUEUE));
    same("[101]", broker.awaited.toString());
  }

  void ruleAFailedCommitIsTriedAgain() {
    process(100);
    broker.fails = true;
    offsets.persist(QUEUE);
    same(1L, counters.all().get("failed_commits"));
    broker.fails = false;
    offsets.persist(QUEUE);
    same("[101]", broker.awaited.toString());
  }

  void ruleAClosedQueueIsCommittedByItsReleaseAlone() {
    process(100);
    work.gate.close();
    offsets.persist(QUEUE);
    same("[]", broker.awaited.toString());
    offsets.commit(work);
    same("[101]", broker.awaited.toString());
  }

  void ruleMessagesThatComeDoNotWaitForACommit() {
    process(100);
    Thread bringing =
        new Thread(() -> work.messages.putMessage(Collections.singletonList(message(101))));
    bringing.setDaemon(true);
    broker.meanwhile =
        () -> {
          bringing.start();
          try {
            bringing.join(5_000);
          } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
          }
          same(false, bringing.isAlive());
        };
    offsets.commit(work);
    same("[101]", broker.awaited.toString());
  }

  void ruleACommitThatHadToWaitPutsNothingBack() throws InterruptedException {
    process(100);
    Thread late = new Thread(() -> offsets.commit(work));
    late.setDaemon(true);
    synchronized (work.commit) {
      late.start();
      while (late.isAlive() && late.getState() != Thread.State.BLOCKED) {
        Thread.yield();
      }
      process(101);
      offsets.commit(work);
    }
    late.join(5_000);
    same("[102]", broker.awaited.toString());
  }

  void ruleAQueueOfSomebodyElseIsNotCommitted() {
    held.remove(work);
    offsets.updateOffset(QUEUE, 500, false);
    offsets.persist(QUEUE);
    same("[]", broker.awaited.toString());
    same(7L, offsets.readOffset(QUEUE, ReadOffsetType.READ_FROM_STORE));
  }

  void ruleRocketMqReadsWhereTheGateIs() {
    process(100, 101);
    same(102L, offsets.readOffset(QUEUE, ReadOffsetType.READ_FROM_STORE));
    same(102L, offsets.cloneOffsetTable("orders").get(QUEUE));
    same(true, offsets.cloneOffsetTable("payments").isEmpty());
  }

  void ruleWhatTheTagsLeaveOutIsPassed() {
    offsets.updateOffset(QUEUE, 150, true);
    same(150L, work.gate.position());
    same("[100-150 filtered]", passed.toString());
  }

  void ruleWhatRocketMqSendsBackIsPassed() {
    work.messages.putMessage(Collections.singletonList(message(100)));
    offsets.updateOffset(QUEUE, 101, true);
    same("[100-101 sent_back]", passed.toString());
  }

  void ruleAResetIsNoProgress() {
    work.messages.setDropped(true);
    offsets.updateOffset(QUEUE, 900, false);
    same(100L, work.gate.position());
    same(900L, work.movedTo);
  }

  void ruleAQueueThatIsKeptGoesOnKept() {
    HeldQueue again = new HeldQueue(work.name, 150, any -> true, () -> {}, work.observer);
    work.kept = true;
    work.goOn(again, 150);
    same(true, again.kept);
  }

  private void process(long... processed) {
    for (long offset : processed) {
      List<Long> one = Collections.singletonList(offset);
      work.gate.fetched(one);
      same(true, work.gate.enter(one));
      work.leave(one, Collections.emptyList());
    }
  }

  private static MessageExt message(long offset) {
    MessageExt message = new MessageExt();
    message.setQueueOffset(offset);
    message.setBody(new byte[0]);
    return message;
  }

  /** A broker that keeps what it hears. */
  private static final class Broker implements OffsetStore {
    final List<Long> awaited = new ArrayList<>();
    final List<Long> oneway = new ArrayList<>();
    boolean fails;
    Runnable meanwhile = () -> {};

    @Override
    public void load() {}

    @Override
    public void updateOffset(MessageQueue queue, long offset, boolean increaseOnly) {
      throw new IllegalStateException("nobody asks it");
    }

    /** As RocketMQ 5 has it. */
    public void updateAndFreezeOffset(MessageQueue queue, long offset) {
      throw new IllegalStateException("nobody asks it");
    }

    @Override
    public long readOffset(MessageQueue queue, ReadOffsetType type) {
      return 7;
    }

    @Override
    public void persistAll(Set<MessageQueue> queues) {
      throw new IllegalStateException("nobody asks it");
    }

    @Override
    public void persist(MessageQueue queue) {
      throw new IllegalStateException("nobody asks it");
    }

    @Override
    public void removeOffset(MessageQueue queue) {}

    @Override
    public Map<MessageQueue, Long> cloneOffsetTable(String topic) {
      return new HashMap<>();
    }

    @Override
    public void updateConsumeOffsetToBroker(MessageQueue queue, long offset, boolean isOneway)
        throws MQBrokerException {
      if (fails) {
        throw new MQBrokerException(1, "it is away");
      }
      meanwhile.run();
      (isOneway ? oneway : awaited).add(offset);
    }
  }
}
