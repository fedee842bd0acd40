package io.fairlead.rocketmq;

import static io.fairlead.rocketmq.Rules.same;

import io.fairlead.client.SettingsException;
import io.fairlead.client.session.Epoch;
import java.lang.reflect.Method;
import java.util.HashSet;
import java.util.Map;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListener;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragely;
import org.apache.rocketmq.client.consumer.store.RemoteBrokerOffsetStore;
import org.apache.rocketmq.client.impl.consumer.RebalanceImpl;
import org.apache.rocketmq.common.message.MessageQueue;

/** What cannot be attached is refused by name. */
final class AttachChecks {
  private final DefaultMQPushConsumer consumer = new DefaultMQPushConsumer("g");
  private Options options = Options.gateway("http://127.0.0.1:9");

  AttachChecks() {
    MessageListenerConcurrently listener =
        (messages, context) -> ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
    consumer.registerMessageListener(listener);
  }

  void ruleAConsumerIsAttached() {
    same("", refusal());
  }

  void ruleItIsAttachedOnce() {
    same("", refusal());
    same("consumer", refusal());
  }

  void ruleBroadcastingIsRefused() throws Exception {
    broadcast();
    same("messageModel", refusal());
  }

  private void broadcast() throws Exception {
    // In 5 the type is in another package.
    for (Method method : DefaultMQPushConsumer.class.getMethods()) {
      if (method.getName().equals("setMessageModel")) {
        Class<?> model = method.getParameterTypes()[0];
        method.invoke(consumer, model.getField("BROADCASTING").get(null));
      }
    }
  }

  void ruleARebalanceByTheBrokerIsRefused() throws Exception {
    same(is("setClientRebalance", boolean.class, false) ? "clientRebalance" : "", refusal());
  }

  void ruleANamespaceIsRefused() throws Exception {
    same(is("setNamespace", String.class, "shop") ? "namespace" : "", refusal());
  }

  void ruleANamespaceOfFiveIsRefused() throws Exception {
    same(is("setNamespaceV2", String.class, "shop") ? "namespace" : "", refusal());
  }

  void ruleAnOffsetStoreOfTheApplicationIsRefused() {
    consumer.setOffsetStore(new RemoteBrokerOffsetStore(null, "g"));
    same("offsetStore", refusal());
  }

  void ruleALightQueueIsRefused() throws Exception {
    consumer.subscribe("%LMQ%a", "*");
    same("topic", refusal());
  }

  void ruleAConsumerWithoutAListenerIsRefused() {
    same("messageListener", refusal(new DefaultMQPushConsumer("g")));
  }

  void ruleAWrongAddressIsRefusedAtOnce() {
    options = Options.gateway("127.0.0.1:9");
    same("gateway", refusal());
  }

  void ruleAWrongTimeToHandOverIsRefusedAtOnce() {
    options.handOverMs(-1);
    same("handOverMs", refusal());
  }

  void ruleAWrongWordForAnOutageIsRefused() {
    try {
      options.onOutage("wait");
      throw new IllegalStateException("it was taken");
    } catch (SettingsException error) {
      same("onOutage: is 'wait'; give stop or keep", error.getMessage());
    }
  }

  void ruleWhatIsSetAfterwardsIsSeen() throws Exception {
    RocketMQ rocketmq = new RocketMQ(consumer);
    HeldQueues held = new HeldQueues(null);
    GrantedOffsets offsets = new GrantedOffsets(held, () -> null, new Counters());
    consumer.setAllocateMessageQueueStrategy(held);
    consumer.setOffsetStore(offsets);
    MessageListener listener = consumer.getMessageListener();
    same(null, rocketmq.replaced(listener, held, offsets));
    consumer.setOffsetStore(null);
    same("offsetStore", rocketmq.replaced(listener, held, offsets));
    consumer.setAllocateMessageQueueStrategy(new AllocateMessageQueueAveragely());
    same("allocateMessageQueueStrategy", rocketmq.replaced(listener, held, offsets));
    MessageListenerConcurrently other =
        (messages, context) -> ConsumeConcurrentlyStatus.RECONSUME_LATER;
    consumer.registerMessageListener(other);
    same("messageListener", rocketmq.replaced(listener, held, offsets));
    broadcast();
    same("messageModel", rocketmq.replaced(listener, held, offsets));
  }

  void ruleRocketMqSubscribesAnewOnlyToShareLimits() throws Exception {
    consumer.subscribe("orders", "*");
    Map<String, ?> subscriptions = consumer.getDefaultMQPushConsumerImpl().getSubscriptionInner();
    Object orders = subscriptions.get("orders");
    orders.getClass().getMethod("setSubVersion", long.class).invoke(orders, 1L);
    tellChange();
    same(1L, orders.getClass().getMethod("getSubVersion").invoke(orders));
    consumer.setPullThresholdForTopic(1_000);
    tellChange();
    same(false, orders.getClass().getMethod("getSubVersion").invoke(orders).equals(1L));
  }

  private void tellChange() {
    RebalanceImpl rebalance = consumer.getDefaultMQPushConsumerImpl().getRebalanceImpl();
    rebalance.getTopicSubscribeInfoTable().put("orders", new HashSet<>());
    try {
      new RocketMQ(consumer).tellChange("orders", new HeldQueues(null));
    } catch (NullPointerException unstarted) {
      // It has no broker to tell.
    }
  }

  void ruleARehearsalComesToItsEnd() throws Exception {
    Rehearsal.handle();
  }

  void ruleAnObserverThatFailsStopsNobody() {
    options.observer(
        new QueueObserver() {
          @Override
          public void started(MessageQueue queue, Epoch epoch, long offset) {
            throw new IllegalStateException("the journal is full");
          }
        });
    options.observer.started(new MessageQueue("orders", "broker-a", 3), new Epoch(1, 7), 0);
  }

  private boolean is(String setter, Class<?> type, Object value) throws Exception {
    try {
      DefaultMQPushConsumer.class.getMethod(setter, type).invoke(consumer, value);
      return true;
    } catch (NoSuchMethodException missing) {
      return false;
    }
  }

  private String refusal() {
    return refusal(consumer);
  }

  private String refusal(DefaultMQPushConsumer of) {
    try {
      Fairlead.attach(of, options);
      return "";
    } catch (SettingsException error) {
      return error.setting;
    }
  }
}
