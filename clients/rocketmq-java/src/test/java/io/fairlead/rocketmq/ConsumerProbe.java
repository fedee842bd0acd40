package io.fairlead.rocketmq;

import io.fairlead.client.json.JsonReader;
import io.fairlead.client.json.JsonWriter;
import java.io.BufferedReader;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.MessageQueue;

/** An attached consumer that writes when each call of its listener begins and ends. */
public final class ConsumerProbe {
  private static OutputStream journal;
  private static long workMs;
  private static long failEvery;
  private static final Map<String, Boolean> FAILED = new ConcurrentHashMap<>();

  private ConsumerProbe() {}

  /** Runs until its input ends. */
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
    Map<?, ?> settings = (Map<?, ?>) JsonReader.read(arguments[0]);
    journal = new FileOutputStream((String) settings.get("journal"), true);
    workMs = (Long) settings.get("work_ms");
    failEvery = (Long) settings.get("fail_every");
    DefaultMQPushConsumer consumer = new DefaultMQPushConsumer((String) settings.get("group"));
    consumer.setNamesrvAddr((String) settings.get("namesrv"));
    consumer.setInstanceName((String) settings.get("name"));
    consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
    consumer.subscribe((String) settings.get("topic"), "*");
    if ((Boolean) settings.get("ordered")) {
      MessageListenerOrderly listener =
          (messages, context) ->
              handle(messages, context.getMessageQueue())
                  ? ConsumeOrderlyStatus.SUCCESS
                  : ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT;
      consumer.registerMessageListener(listener);
    } else {
      MessageListenerConcurrently listener =
          (messages, context) -> {
            context.setDelayLevelWhenNextConsume(1);
            return handle(messages, context.getMessageQueue())
                ? ConsumeConcurrentlyStatus.CONSUME_SUCCESS
                : ConsumeConcurrentlyStatus.RECONSUME_LATER;
          };
      consumer.registerMessageListener(listener);
    }
    Attached attached =
        Fairlead.attach(consumer, Options.gateway((String) settings.get("gateway")));
    consumer.start();
    say(Arrays.<Object>asList("started"));
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      if (line.equals("[\"shutdown\"]")) {
        consumer.shutdown();
      } else if (line.equals("[\"close\"]")) {
        attached.close();
        say(Arrays.<Object>asList("close"));
      } else {
        say(Arrays.<Object>asList("counters", attached.counters().all()));
      }
    }
  }

  private static boolean handle(List<MessageExt> messages, MessageQueue queue) {
    write("begin", messages, queue);
    try {
      Thread.sleep(workMs);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
    MessageExt first = messages.get(0);
    boolean fails =
        failEvery > 0
            && first.getQueueOffset() % failEvery == 0
            && first.getReconsumeTimes() == 0
            && FAILED.put(first.getMsgId(), true) == null;
    write(fails ? "fail" : "end", messages, queue);
    return !fails;
  }

  private static void write(String kind, List<MessageExt> messages, MessageQueue queue) {
    for (MessageExt message : messages) {
      List<Object> line = new ArrayList<>();
      line.addAll(Arrays.<Object>asList(kind, queue.getTopic(), (long) queue.getQueueId()));
      line.add(message.getQueueOffset());
      line.add(System.nanoTime());
      line.add(new String(message.getBody(), StandardCharsets.UTF_8));
      put(journal, line);
    }
  }

  private static void say(List<Object> line) {
    put(System.out, line);
  }

  private static void put(OutputStream stream, List<Object> line) {
    byte[] written = JsonWriter.write(line);
    byte[] whole = Arrays.copyOf(written, written.length + 1);
    whole[written.length] = '\n';
    synchronized (stream) {
      try {
        stream.write(whole);
        stream.flush();
      } catch (IOException error) {
        throw new IllegalStateException(error);
      }
    }
  }
}
