package io.fairlead.rocketmq;

import static io.fairlead.rocketmq.Rules.same;

import io.fairlead.client.SettingsException;
import java.lang.reflect.Method;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.store.RemoteBrokerOffsetStore;

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
    // In 5 the type is in another package.
    for (Method method : DefaultMQPushConsumer.class.getMethods()) {
      if (method.getName().equals("setMessageModel")) {
        Class<?> model = method.getParameterTypes()[0];
        method.invoke(consumer, model.getField("BROADCASTING").get(null));
      }
    }
    same("messageModel", refusal());
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

  void ruleAWrongWordForAnOutageIsRefused() {
    try {
      options.onOutage("wait");
      throw new IllegalStateException("it was taken");
    } catch (SettingsException error) {
      same("onOutage: is 'wait'; give stop or keep", error.getMessage());
    }
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
