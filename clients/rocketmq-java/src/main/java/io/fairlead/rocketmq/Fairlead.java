package io.fairlead.rocketmq;

import io.fairlead.client.SettingsException;
import java.util.function.Consumer;
import org.apache.rocketmq.client.consumer.AllocateMessageQueueStrategy;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.MessageListener;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;

/** Makes RocketMQ's consumers members of a group that Fairlead balances. */
public final class Fairlead {
  private Fairlead() {}

  /**
   * Attaches a consumer, before its {@code start()} and after its listener is registered. From then
   * on the gateway says which queues it has, and from which offsets on.
   *
   * @throws SettingsException the consumer cannot be attached; the text says why, and what helps
   */
  public static Attached attach(DefaultMQPushConsumer consumer, Options options) {
    RocketMQ rocketmq = new RocketMQ(consumer);
    rocketmq.check();
    // What cannot work is refused here, and not by a thread that nobody listens to.
    AllocateMessageQueueStrategy former = rocketmq.strategy();
    options
        .member("unknown@yet", former.getName())
        .group(consumer.getConsumerGroup())
        .topics("any")
        .build();
    MessageListener listener = consumer.getMessageListener();
    Counters counters = new Counters();
    HeldQueues held = new HeldQueues(options.standsBy ? former : null);
    GatedListeners gates = new GatedListeners(held, rocketmq, counters);
    Consumer<HeldQueue> drain = work -> {};
    if (listener instanceof MessageListenerConcurrently) {
      drain = work -> gates.drain(work, (MessageListenerConcurrently) listener);
      consumer.registerMessageListener(gates.concurrent((MessageListenerConcurrently) listener));
    } else if (listener instanceof MessageListenerOrderly) {
      consumer.registerMessageListener(gates.ordered((MessageListenerOrderly) listener));
    } else {
      throw new SettingsException(
          "messageListener", "is not registered", "register it before you attach the consumer");
    }
    GrantedOffsets offsets = new GrantedOffsets(held, rocketmq::brokerOffsets, counters);
    consumer.setAllocateMessageQueueStrategy(held);
    consumer.setOffsetStore(offsets);
    MessageListener gated = consumer.getMessageListener();
    Attached attached =
        new Attached(
            consumer,
            options,
            rocketmq,
            held,
            offsets,
            counters,
            drain,
            former.getName(),
            () -> rocketmq.replaced(gated, held, offsets));
    attached.begin();
    return attached;
  }
}
