package io.fairlead.rocketmq;

import io.fairlead.client.json.JsonReader;
import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * A push consumer that keeps a journal for the judge (docs/journals.md), attached or, without {@code
 * --gateway}, under RocketMQ's own rebalance. It obeys lines on its standard input, as the consumers
 * of {@code fairlead demo} do, and says on its standard output what it writes into the journal:
 *
 * <ul>
 *   <li>{@code {"do":"join"}}: start the consumer;
 *   <li>{@code {"do":"hold","queue_id":7}}: keep the next message of that queue (null: of any) in
 *       hand; {@code {"do":"resume"}}: finish it;
 *   <li>{@code {"do":"counters"}}: say what the attached consumer has counted;
 *   <li>{@code {"do":"shutdown"}}: RocketMQ's {@code shutdown()} alone; the process stays;
 *   <li>{@code {"do":"exit"}}: end the process; its hook calls {@code shutdown()} alone;
 *   <li>{@code {"do":"leave"}}, SIGTERM, or the end of the input: close, and end.
 * </ul>
 */
public final class ConsumerProbe {
  private final Map<String, String> flags;
  private final ProbeJournal journal;
  private final CountDownLatch joined = new CountDownLatch(1);
  private final CountDownLatch ended = new CountDownLatch(1);
  private final Map<String, Boolean> failed = new ConcurrentHashMap<>();
  private final long workMs;
  private final long failEvery;
  private DefaultMQPushConsumer consumer;
  private FairleadLitePullConsumer pulled;
  private volatile boolean leaving;
  private volatile boolean exiting;
  private Attached attached;
  private boolean holds;
  private Long heldQueue;

  private ConsumerProbe(Map<String, String> flags) throws Exception {
    this.flags = flags;
    workMs = number("work-ms", 20);
    failEvery = number("fail-every", 0);
    journal = new ProbeJournal(flags.get("journal"), flags.get("client-id"));
  }

  /** Runs until it is told to leave. */
  public static void main(String[] arguments) {
    try {
      Map<String, String> flags = new HashMap<>();
      for (int at = 0; at < arguments.length; at += 2) {
        flags.put(arguments[at].substring(2), arguments[at + 1]);
      }
      if (flags.containsKey("settings")) {
        // Whoever starts consumers of several kinds gives what is this one's own as JSON.
        Map<?, ?> more = (Map<?, ?>) JsonReader.read(flags.get("settings"));
        more.forEach((name, value) -> flags.put((String) name, String.valueOf(value)));
      }
      new ConsumerProbe(flags).run();
      System.exit(0);
    } catch (Exception | LinkageError error) {
      // RocketMQ's threads would keep the process alive; nobody who failed has left in order.
      error.printStackTrace();
      Runtime.getRuntime().halt(1);
    }
  }

  private void run() throws Exception {
    Runtime.getRuntime().addShutdownHook(new Thread(this::leave));
    Thread commands = new Thread(this::obey, "commands");
    commands.setDaemon(true);
    commands.start();
    journal.event("ready");
    joined.await();
    if (Boolean.parseBoolean(flags.get("pull"))) {
      pull();
      return;
    }
    consumer = consumer();
    if (flags.containsKey("gateway")) {
      attached = Fairlead.attach(consumer, options());
    }
    consumer.start();
    journal.event("joined");
    ended.await();
  }

  private Options options() throws Exception {
    Options options =
        Options.gateway(flags.get("gateway"))
            .clientId(flags.get("client-id"))
            .onOutage(flags.getOrDefault("on-outage", "stop"))
            .observer(journal.observer());
    if (flags.containsKey("hand-over-ms")) {
      options.handOverMs((int) number("hand-over-ms", 0));
    }
    if (Boolean.parseBoolean(flags.get("standby"))) {
      options.standby();
    }
    if (flags.containsKey("token-file")) {
      options.tokenFile(Paths.get(flags.get("token-file")));
    }
    if (flags.containsKey("ca-file")) {
      options.ssl(trusting(Paths.get(flags.get("ca-file"))));
    }
    return options;
  }

  private void pull() throws Exception {
    pulled = new FairleadLitePullConsumer(flags.get("group"), options());
    pulled.setNamesrvAddr(flags.get("namesrv"));
    pulled.setInstanceName(flags.get("client-id"));
    pulled.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
    pulled.setPullBatchSize((int) number("batch", 1));
    pulled.subscribe(flags.get("topic"), flags.getOrDefault("tags", "*"));
    pulled.start();
    journal.event("joined");
    while (!leaving) {
      List<MessageExt> messages = pulled.poll(200);
      if (!messages.isEmpty()) {
        MessageExt first = messages.get(0);
        handle(
            messages,
            new MessageQueue(first.getTopic(), first.getBrokerName(), first.getQueueId()));
      }
    }
    pulled.commitSync();
    pulled.shutdown();
    journal.event("left");
    ended.countDown();
  }

  private static SSLContext trusting(Path file) throws Exception {
    KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null, null);
    try (InputStream in = Files.newInputStream(file)) {
      store.setCertificateEntry(
          "ca", CertificateFactory.getInstance("X.509").generateCertificate(in));
    }
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(store);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    return context;
  }

  private DefaultMQPushConsumer consumer() throws Exception {
    DefaultMQPushConsumer made = new DefaultMQPushConsumer(flags.get("group"));
    made.setNamesrvAddr(flags.get("namesrv"));
    made.setInstanceName(flags.get("client-id"));
    made.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
    made.setConsumeMessageBatchMaxSize((int) number("batch", 1));
    int threads = (int) number("threads", 20);
    made.setConsumeThreadMin(threads);
    made.setConsumeThreadMax(threads);
    made.subscribe(flags.get("topic"), flags.getOrDefault("tags", "*"));
    if (Boolean.parseBoolean(flags.get("ordered"))) {
      MessageListenerOrderly listener =
          (messages, context) ->
              handle(messages, context.getMessageQueue()) == messages.size()
                  ? ConsumeOrderlyStatus.SUCCESS
                  : ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT;
      made.registerMessageListener(listener);
    } else {
      MessageListenerConcurrently listener =
          (messages, context) -> {
            context.setDelayLevelWhenNextConsume(1);
            int done = handle(messages, context.getMessageQueue());
            context.setAckIndex(done - 1);
            return done == 0
                ? ConsumeConcurrentlyStatus.RECONSUME_LATER
                : ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
          };
      made.registerMessageListener(listener);
    }
    return made;
  }

  private long number(String flag, long otherwise) {
    return flags.containsKey(flag) ? Long.parseLong(flags.get(flag)) : otherwise;
  }

  /** Processes messages, and returns how many did not fail: the first failure ends it. */
  private int handle(List<MessageExt> messages, MessageQueue queue) {
    journal.held(queue, messages);
    try {
      synchronized (this) {
        while (holds && (heldQueue == null || heldQueue == queue.getQueueId())) {
          wait();
        }
      }
      Thread.sleep(workMs);
    } catch (InterruptedException interrupted) {
      // RocketMQ's shutdown: this work is not done.
      Thread.currentThread().interrupt();
      messages.forEach(message -> journal.failed(queue, message));
      return 0;
    }
    if (attached != null && !attached.mayWork(queue)) {
      // It stood still for longer than its lease: somebody else processes them.
      return messages.size();
    }
    int done = 0;
    while (done < messages.size() && !fails(messages.get(done))) {
      journal.consumed(queue, messages.get(done));
      done++;
    }
    messages.subList(done, messages.size()).forEach(message -> journal.failed(queue, message));
    return done;
  }

  private boolean fails(MessageExt message) {
    return failEvery > 0
        && message.getQueueOffset() % failEvery == failEvery - 1
        && message.getReconsumeTimes() == 0
        && failed.put(message.getMsgId(), true) == null;
  }

  private void obey() {
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    try {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        Map<?, ?> command = (Map<?, ?>) JsonReader.read(line);
        switch ((String) command.get("do")) {
          case "join":
            joined.countDown();
            break;
          case "hold":
            hold((Long) command.get("queue_id"));
            break;
          case "resume":
            letGo();
            break;
          case "counters":
            journal.say(counters());
            break;
          case "exit":
            exiting = true;
            System.exit(0);
            break;
          case "shutdown":
            consumer.shutdown();
            journal.event("shutdown");
            break;
          default:
            System.exit(0);
        }
      }
    } catch (Exception error) {
      System.err.println("commands: " + error);
    }
    // Whoever wrote the commands is gone.
    System.exit(0);
  }

  private Map<String, Object> counters() {
    Map<String, Object> line = new LinkedHashMap<>();
    line.put("event", "counters");
    line.putAll((pulled != null ? pulled.counters() : attached.counters()).all());
    return line;
  }

  private void leave() {
    letGo();
    leaving = true;
    journal.event("leaving");
    if (pulled != null) {
      try {
        ended.await();
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
      }
      return;
    }
    if (attached != null && !exiting) {
      attached.close();
    } else if (consumer != null) {
      consumer.shutdown();
    }
    journal.event("left");
    ended.countDown();
  }

  private synchronized void hold(Long queue) {
    holds = true;
    heldQueue = queue;
  }

  private synchronized void letGo() {
    holds = false;
    notifyAll();
  }
}
