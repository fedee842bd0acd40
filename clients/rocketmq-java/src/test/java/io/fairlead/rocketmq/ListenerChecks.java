package io.fairlead.rocketmq;

import static io.fairlead.rocketmq.Rules.same;

import io.fairlead.client.session.Epoch;
import io.fairlead.client.session.QueueName;
import io.fairlead.client.session.WorkName;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyContext;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;

/** The rules of listeners that fail. No broker runs, so nothing can be sent back. */
final class ListenerChecks {
  private static final MessageQueue QUEUE = new MessageQueue("orders", "broker-a", 3);

  private final HeldQueues held = new HeldQueues(null);
  private final GatedListeners gates =
      new GatedListeners(held, new RocketMQ(new DefaultMQPushConsumer("g")), new Counters());
  private final AtomicInteger calls = new AtomicInteger();
  private final HeldQueue work;

  ListenerChecks() {
    WorkName name = new WorkName(new QueueName("orders", "broker-a", 3), new Epoch(1, 7));
    work = new HeldQueue(name, 100, any -> true, () -> {}, new QueueObserver() {});
    held.put(work);
  }

  void ruleAnErrorOfAListenerIsAFailureAsAnyOther() {
    List<MessageExt> one = Collections.singletonList(message(100));
    work.gate.fetched(HeldQueue.offsets(one));
    ConsumeConcurrentlyContext context = new ConsumeConcurrentlyContext(QUEUE);
    same(
        ConsumeConcurrentlyStatus.RECONSUME_LATER,
        gates.concurrent(this::breaks).consumeMessage(one, context));
    same(0, work.gate.inside());
    same(100L, work.gate.position());
  }

  void ruleAnErrorKeepsNothingElseOfAClosedGateBack() {
    for (long offset : new long[] {100, 101}) {
      work.unfinished.put(offset, message(offset));
    }
    work.gate.fetched(Arrays.asList(100L, 101L, 102L));
    same(true, work.gate.enter(Collections.singletonList(102L)));
    work.gate.close();
    work.leave(Collections.singletonList(102L), Collections.emptyList());
    gates.drain(work, this::breaks);
    same(2, calls.get());
    same(true, work.gate.mayRelease());
  }

  private ConsumeConcurrentlyStatus breaks(
      List<MessageExt> messages, ConsumeConcurrentlyContext context) {
    calls.incrementAndGet();
    throw new NoClassDefFoundError("a class is missing");
  }

  private static MessageExt message(long offset) {
    MessageExt message = new MessageExt();
    message.setTopic("orders");
    message.setQueueOffset(offset);
    return message;
  }
}
