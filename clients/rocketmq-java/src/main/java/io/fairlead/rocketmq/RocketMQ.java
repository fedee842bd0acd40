package io.fairlead.rocketmq;

import static org.apache.rocketmq.client.impl.CommunicationMode.ASYNC;

import io.fairlead.client.SettingsException;
import io.fairlead.client.session.Subscription;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentMap;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.rocketmq.client.consumer.AllocateMessageQueueStrategy;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.PullCallback;
import org.apache.rocketmq.client.consumer.PullResult;
import org.apache.rocketmq.client.consumer.listener.MessageListener;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.client.consumer.store.OffsetStore;
import org.apache.rocketmq.client.consumer.store.RemoteBrokerOffsetStore;
import org.apache.rocketmq.client.exception.MQBrokerException;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.impl.consumer.DefaultMQPushConsumerImpl;
import org.apache.rocketmq.client.impl.consumer.ProcessQueue;
import org.apache.rocketmq.client.impl.consumer.PullAPIWrapper;
import org.apache.rocketmq.client.impl.consumer.PullRequest;
import org.apache.rocketmq.client.impl.consumer.RebalanceImpl;
import org.apache.rocketmq.common.ServiceState;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.common.sysflag.PullSysFlag;
import org.apache.rocketmq.remoting.exception.RemotingException;
import org.apache.rocketmq.remoting.protocol.RemotingSerializable;

/** What is asked of RocketMQ's client; all of it is the same from 4.7 to 5.5. */
final class RocketMQ {
  private static final Logger LOG = Logger.getLogger("io.fairlead.rocketmq");

  private static final long ASKED_MS = 1_000;

  private final DefaultMQPushConsumer consumer;
  private final DefaultMQPushConsumerImpl client;

  RocketMQ(DefaultMQPushConsumer consumer) {
    this.consumer = consumer;
    client = consumer.getDefaultMQPushConsumerImpl();
  }

  /** Refuses what cannot be attached. */
  void check() {
    if (client.getServiceState() != ServiceState.CREATE_JUST) {
      throw new SettingsException("consumer", "has been started", "attach it before start()");
    }
    checkModel();
    if (consumer.getOffsetStore() instanceof GrantedOffsets) {
      throw new SettingsException("consumer", "is attached already", "attach it once");
    }
    if (consumer.getOffsetStore() != null) {
      throw new SettingsException(
          "offsetStore", "is the application's own", "leave it out: Fairlead has one");
    }
  }

  private void checkModel() {
    // The types of these answers have other packages in 4 and in 5.
    if ("BROADCASTING".equals(String.valueOf(asked(consumer, "getMessageModel")))) {
      throw new SettingsException(
          "messageModel", "is BROADCASTING: each client reads all queues", "do not attach it");
    }
    if (Boolean.FALSE.equals(asked(consumer, "isClientRebalance"))) {
      throw new SettingsException(
          "clientRebalance", "lets the broker decide, and may POP", "set it to true");
    }
    for (String getter : Arrays.asList("getNamespace", "getNamespaceV2")) {
      Object namespace = asked(consumer, getter);
      if (namespace != null && !namespace.toString().isEmpty()) {
        throw new SettingsException(
            "namespace", "'" + namespace + "' is not served", "use whole names of topics");
      }
    }
    for (String topic : client.getSubscriptionInner().keySet()) {
      if (topic.startsWith("%LMQ%")) {
        throw new SettingsException(
            "topic", "'" + topic + "' is a light queue inside another topic's", "do not attach it");
      }
    }
  }

  /** Returns what the application has set after it attached the consumer; null if nothing. */
  String replaced(MessageListener listener, HeldQueues held, GrantedOffsets offsets) {
    try {
      checkModel();
    } catch (SettingsException error) {
      return error.setting;
    }
    if (client.getMessageListenerInner() != listener) {
      return "messageListener";
    }
    if (consumer.getAllocateMessageQueueStrategy() != held) {
      return "allocateMessageQueueStrategy";
    }
    return consumer.getOffsetStore() != offsets ? "offsetStore" : null;
  }

  private static Object asked(Object of, String method) {
    try {
      return of.getClass().getMethod(method).invoke(of);
    } catch (NoSuchMethodException missing) {
      return null;
    } catch (ReflectiveOperationException error) {
      throw new IllegalStateException(method + ": " + error.getCause(), error);
    }
  }

  /** Returns the state; while the consumer starts or ends it waits for that. */
  ServiceState state() {
    synchronized (client) {
      return client.getServiceState();
    }
  }

  String clientId() {
    return client.getmQClientFactory().getClientId();
  }

  /** Returns the strategy that the application has chosen. */
  AllocateMessageQueueStrategy strategy() {
    return consumer.getAllocateMessageQueueStrategy();
  }

  boolean ordered() {
    return client.getMessageListenerInner() instanceof MessageListenerOrderly;
  }

  OffsetStore brokerOffsets() {
    return new RemoteBrokerOffsetStore(client.getmQClientFactory(), consumer.getConsumerGroup());
  }

  /** Returns what the consumer reads, its topic of retries too. */
  List<Subscription> subscriptions() {
    List<Subscription> result = new ArrayList<>();
    for (Map.Entry<String, ?> each : client.getSubscriptionInner().entrySet()) {
      String tags = String.valueOf(asked(each.getValue(), "getSubString"));
      boolean isTags = "TAG".equals(asked(each.getValue(), "getExpressionType"));
      result.add(
          !isTags || tags.equals("*")
              ? new Subscription(each.getKey())
              : new Subscription(each.getKey(), Arrays.asList(tags.trim().split("\\s*\\|\\|\\s*"))));
    }
    return result;
  }

  void sendBack(MessageExt message, int level, String broker)
      throws RemotingException, MQBrokerException, InterruptedException, MQClientException {
    client.sendMessageBack(message, level, broker);
  }

  /** Gives messages of the topic of retries their own topic back, as before each call. */
  void resetRetry(List<MessageExt> messages) {
    client.resetRetryAndNamespace(messages, consumer.getConsumerGroup());
  }

  private RebalanceImpl rebalance() {
    return client.getRebalanceImpl();
  }

  ConcurrentMap<MessageQueue, ProcessQueue> table() {
    return rebalance().getProcessQueueTable();
  }

  boolean lock(MessageQueue queue) {
    return rebalance().lock(queue);
  }

  void unlock(MessageQueue queue) {
    rebalance().unlock(queue, false);
  }

  /** Asks each broker for the locks of no queues, and writes that none is given back. */
  void lockNothing() throws ReflectiveOperationException {
    Object brokers = client.getmQClientFactory().getMQClientAPIImpl();
    // The bodies of these requests have other packages in 4 and in 5.
    for (Method request : brokers.getClass().getMethods()) {
      if (request.getName().equals("unlockBatchMQ")) {
        RemotingSerializable.encode(nothing(request.getParameterTypes()[1]));
      } else if (request.getName().equals("lockBatchMQ")) {
        for (String address : masters()) {
          request.invoke(brokers, address, nothing(request.getParameterTypes()[1]), ASKED_MS);
        }
      }
    }
  }

  /** Fetches behind the end of one queue, where nothing is, and does not wait there for more. */
  void fetchNothing()
      throws MQClientException, RemotingException, MQBrokerException, InterruptedException {
    PullCallback ignored =
        new PullCallback() {
          @Override
          public void onSuccess(PullResult result) {}

          @Override
          public void onException(Throwable error) {}
        };
    PullAPIWrapper fetches =
        new PullAPIWrapper(
            client.getmQClientFactory(), consumer.getConsumerGroup(), consumer.isUnitMode());
    int neitherWaitNorCommit = PullSysFlag.buildSysFlag(false, false, true, false);
    for (Set<MessageQueue> queues : rebalance().getTopicSubscribeInfoTable().values()) {
      for (MessageQueue queue : queues) {
        long end = consumer.maxOffset(queue);
        fetches.pullKernelImpl(
            queue, "*", "TAG", 0, end, 1, neitherWaitNorCommit, 0, 0, ASKED_MS, ASYNC, ignored);
        return;
      }
    }
  }

  private Object nothing(Class<?> body) throws ReflectiveOperationException {
    Object made = body.getConstructor().newInstance();
    body.getMethod("setConsumerGroup", String.class).invoke(made, consumer.getConsumerGroup());
    body.getMethod("setClientId", String.class).invoke(made, clientId());
    return made;
  }

  private Set<String> masters() {
    Set<String> result = new HashSet<>();
    for (Set<MessageQueue> queues : rebalance().getTopicSubscribeInfoTable().values()) {
      for (MessageQueue queue : queues) {
        result.add(client.getmQClientFactory().findBrokerAddressInPublish(queue.getBrokerName()));
      }
    }
    result.remove(null);
    return result;
  }

  /** Returns where RocketMQ would begin to read a queue; less than 0 if it cannot tell now. */
  long start(MessageQueue queue) {
    return rebalance().computePullFromWhere(queue);
  }

  /** Returns the next offset to be written; the greatest number if no broker says it. */
  long end(MessageQueue queue) {
    try {
      return consumer.maxOffset(queue);
    } catch (MQClientException error) {
      LOG.log(Level.WARNING, "the end of " + queue + " is unknown", error);
      return Long.MAX_VALUE;
    }
  }

  /**
   * Tells RocketMQ which queues the client has now, if it has limits of a topic to share among them,
   * or somebody listens. It subscribes anew for that, and fetches that overtake its word wait a
   * second: so it does not hear what it needs not.
   */
  void tellChange(String topic, HeldQueues held) {
    boolean isLimited =
        consumer.getPullThresholdForTopic() != -1 || consumer.getPullThresholdSizeForTopic() != -1;
    if (!isLimited && asked(consumer, "getMessageQueueListener") == null) {
      return;
    }
    Set<MessageQueue> all = rebalance().getTopicSubscribeInfoTable().get(topic);
    if (all != null) {
      rebalance().messageQueueChanged(topic, all, held.of(topic));
    }
  }

  /** Drops whatever feeds a queue. */
  void drop(MessageQueue queue) {
    ProcessQueue messages = table().get(queue);
    if (messages != null) {
      messages.setDropped(true);
    }
  }

  /** Begins to fetch at once, and returns whether nothing else feeds the queue. */
  boolean adopt(HeldQueue work, boolean locked) {
    work.messages.setLocked(locked);
    work.messages.setLastLockTimestamp(System.currentTimeMillis());
    // Before the table has it: a rebalance of RocketMQ in between would drop it.
    work.adopted = true;
    ProcessQueue other = table().putIfAbsent(work.queue, work.messages);
    if (other != null) {
      work.adopted = false;
      other.setDropped(true);
      table().remove(work.queue, other);
      return false;
    }
    PullRequest request = new PullRequest();
    request.setConsumerGroup(consumer.getConsumerGroup());
    request.setMessageQueue(work.queue);
    request.setProcessQueue(work.messages);
    request.setNextOffset(work.gate.position());
    client.executePullRequestImmediately(request);
    return true;
  }
}
