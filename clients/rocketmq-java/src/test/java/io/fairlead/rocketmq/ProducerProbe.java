package io.fairlead.rocketmq;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.rocketmq.client.exception.MQBrokerException;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageQueue;

/** Makes a topic and writes numbered messages, one queue after the other in turns. */
public final class ProducerProbe {
  private static final int ATTEMPTS_MAX = 50;

  private ProducerProbe() {}

  /** Takes name servers, topic, queues and messages. */
  public static void main(String[] arguments) {
    try {
      run(arguments);
      System.exit(0);
    } catch (Exception | LinkageError error) {
      // RocketMQ's threads would keep the process alive.
      error.printStackTrace();
      System.exit(1);
    }
  }

  private static void run(String[] arguments) throws Exception {
    DefaultMQProducer producer = new DefaultMQProducer("fairlead-tests");
    producer.setNamesrvAddr(arguments[0]);
    int queues = Integer.parseInt(arguments[2]);
    producer.setDefaultTopicQueueNums(queues);
    producer.setSendMsgTimeout(10_000);
    producer.start();
    for (int number = 0; number < Integer.parseInt(arguments[3]); number++) {
      byte[] body = Integer.toString(number).getBytes(StandardCharsets.UTF_8);
      int at = number % queues;
      send(producer, new Message(arguments[1], body), at);
    }
    producer.shutdown();
  }

  private static void send(DefaultMQProducer producer, Message message, int at) throws Exception {
    for (int attempt = 1; ; attempt++) {
      try {
        producer.send(message, (all, sent, which) -> at(all, at), null);
        return;
      } catch (MQBrokerException busy) {
        // It has not stored the message.
        if (attempt == ATTEMPTS_MAX) {
          throw busy;
        }
      }
    }
  }

  private static MessageQueue at(List<MessageQueue> all, int number) {
    for (MessageQueue each : all) {
      if (each.getBrokerName().equals("broker-a") && each.getQueueId() == number) {
        return each;
      }
    }
    throw new IllegalStateException("broker-a has no queue " + number + ": " + all);
  }
}
