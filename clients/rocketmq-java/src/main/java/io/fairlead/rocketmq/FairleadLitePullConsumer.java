package io.fairlead.rocketmq;

import io.fairlead.client.SettingsException;
import io.fairlead.client.session.Subscription;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.rocketmq.client.consumer.DefaultLitePullConsumer;
import org.apache.rocketmq.client.consumer.store.RemoteBrokerOffsetStore;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.impl.MQClientManager;
import org.apache.rocketmq.client.impl.factory.MQClientInstance;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * A lite pull consumer whose queues Fairlead hands out. {@code subscribe}, {@code poll} and {@code
 * commitSync} are used as ever; what a thread polled is processed when the same thread polls again
 * or calls {@code commitSync}.
 */
public final class FairleadLitePullConsumer extends DefaultLitePullConsumer {
  private static final long SLICE_MS = 50;
  private static final long CLOSE_MS = 30_000;

  private final Options options;
  private final Counters counters = new Counters();
  private final HeldQueues held = new HeldQueues(null);
  private final GrantedOffsets offsets;
  private final Map<String, Subscription> topics = new LinkedHashMap<>();
  private final ThreadLocal<Batch> inHand = new ThreadLocal<>();
  private PullTurns turns;

  /** What a thread has polled. */
  private static final class Batch {
    final HeldQueue work;
    final List<Long> offsets;

    Batch(HeldQueue work, List<Long> offsets) {
      this.work = work;
      this.offsets = offsets;
    }
  }

  /**
   * Makes a consumer.
   *
   * @throws SettingsException an option cannot work
   */
  public FairleadLitePullConsumer(String group, Options options) {
    super(group);
    this.options = options;
    if (options.standsBy) {
      throw new SettingsException("standby", "is for push consumers", "leave it out");
    }
    options.member("unknown@yet", null).group(group).topics("any").build();
    offsets = new GrantedOffsets(held, this::brokerOffsets, counters);
    setOffsetStore(offsets);
  }

  private RemoteBrokerOffsetStore brokerOffsets() {
    return new RemoteBrokerOffsetStore(instance(), getConsumerGroup());
  }

  private MQClientInstance instance() {
    return MQClientManager.getInstance().getOrCreateMQClientInstance(this);
  }

  /** Returns how often each thing has happened. */
  public Counters counters() {
    return counters;
  }

  @Override
  public void subscribe(String topic, String expression) {
    if (turns != null) {
      throw new SettingsException("topic", "is named after start()", "subscribe before it");
    }
    String tags = expression == null ? "*" : expression.trim();
    if (tags.equals("*") || tags.isEmpty()) {
      topics.put(topic, new Subscription(topic));
      return;
    }
    try {
      getClass()
          .getMethod("setSubExpressionForAssign", String.class, String.class)
          .invoke(this, topic, tags);
    } catch (ReflectiveOperationException missing) {
      throw new SettingsException(
          "tags", "'" + tags + "' cannot be used with this RocketMQ client", "subscribe to *");
    }
    topics.put(topic, new Subscription(topic, Arrays.asList(tags.split("\\s*\\|\\|\\s*"))));
  }

  /** Refused: a gateway says which queues the consumer has. */
  @Override
  public void assign(Collection<MessageQueue> queues) {
    throw new SettingsException("assign", "is not the application's", "call subscribe");
  }

  /** Refused: a queue is read from where it is granted. */
  @Override
  public void seek(MessageQueue queue, long offset) {
    throw new SettingsException("seek", "is not served", "use fairlead offsets reset");
  }

  @Override
  public void start() throws MQClientException {
    super.start();
    turns = new PullTurns(new Feed(), held, offsets, counters, options);
    turns.begin(
        options
            .member(buildMQClientId(), null)
            .group(getConsumerGroup())
            .clientId(options.clientId != null ? options.clientId : buildMQClientId()),
        new ArrayList<>(topics.values()),
        getConsumeFromWhere());
  }

  @Override
  public List<MessageExt> poll() {
    return poll(getPollTimeoutMillis());
  }

  @Override
  public List<MessageExt> poll(long timeout) {
    finish();
    long untilNs = System.nanoTime() + timeout * 1_000_000;
    for (long leftMs = timeout; ; leftMs = (untilNs - System.nanoTime()) / 1_000_000) {
      List<MessageExt> found;
      synchronized (turns) {
        found = entered(super.poll(Math.max(0, Math.min(SLICE_MS, leftMs))));
      }
      if (!found.isEmpty() || leftMs <= 0) {
        return found;
      }
    }
  }

  /** Returns those that are the member's to process now. */
  private List<MessageExt> entered(List<MessageExt> polled) {
    if (polled.isEmpty()) {
      return polled;
    }
    MessageExt first = polled.get(0);
    HeldQueue work =
        held.at(
            new MessageQueue(first.getTopic(), first.getBrokerName(), first.getQueueId()));
    if (work == null || !work.adopted) {
      counters.add(Counters.Thing.REFUSED_CALLS);
      return Collections.emptyList();
    }
    List<MessageExt> fresh = new ArrayList<>(polled);
    long position = work.gate.position();
    fresh.removeIf(message -> message.getQueueOffset() < position);
    work.fetched(fresh);
    List<Long> taken = HeldQueue.offsets(fresh);
    if (fresh.isEmpty() || !work.gate.enter(taken)) {
      counters.add(Counters.Thing.REFUSED_CALLS);
      return Collections.emptyList();
    }
    inHand.set(new Batch(work, taken));
    return fresh;
  }

  private void finish() {
    Batch batch = inHand.get();
    if (batch != null) {
      inHand.remove();
      batch.work.leave(batch.offsets, Collections.emptyList());
    }
  }

  /** What this thread has polled is processed; returns once the broker has heard how far all is. */
  @Override
  public void commitSync() {
    finish();
    held.all().forEach(work -> offsets.persist(work.queue));
  }

  /** Returns whether the messages that this thread polled last are still the member's. */
  public boolean mayWork() {
    Batch batch = inHand.get();
    return batch != null && turns.mayWork(batch.work);
  }

  /** Leaves in order, and shuts down. What was polled and not committed comes again elsewhere. */
  @Override
  public void shutdown() {
    Batch batch = inHand.get();
    if (batch != null) {
      inHand.remove();
      batch.work.leave(Collections.emptyList(), batch.offsets);
    }
    if (turns != null) {
      turns.close(CLOSE_MS);
    }
    super.shutdown();
  }

  /** What the control thread asks of RocketMQ. */
  final class Feed {
    /**
     * Fetches these queues and no other; a new one from where the gate is, since RocketMQ asks the
     * offset store. A seek could be overtaken by a fetch that is under way.
     */
    void fetch(Collection<MessageQueue> queues, String topic) {
      if (!queues.isEmpty()) {
        FairleadLitePullConsumer.super.assign(queues);
        return;
      }
      // RocketMQ takes no empty assignment, and a queue that stays keeps its fetches.
      Collection<MessageQueue> nowhere =
          Collections.singleton(new MessageQueue(topic, "nowhere", 0));
      FairleadLitePullConsumer.super.assign(nowhere);
      FairleadLitePullConsumer.super.pause(nowhere);
    }

    long inBounds(MessageQueue queue, long offset) throws MQClientException {
      long begin = instance().getMQAdminImpl().minOffset(queue);
      long end = instance().getMQAdminImpl().maxOffset(queue);
      return Math.max(begin, Math.min(end, offset));
    }
  }
}
