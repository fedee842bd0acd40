package io.fairlead.client;

import io.fairlead.client.json.JsonException;
import io.fairlead.client.json.JsonReader;
import io.fairlead.client.json.JsonWriter;
import io.fairlead.client.kafka.FairleadKafkaConsumer;
import io.fairlead.client.kafka.QueueListener;
import io.fairlead.client.session.Epoch;
import java.io.BufferedReader;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.StringDeserializer;

/**
 * A consumer that keeps a journal for the judge and obeys lines on its standard input: {@code join},
 * {@code hold}, {@code resume} and {@code leave}, as the consumers of {@code fairlead demo} do.
 */
public final class JournaledConsumer {
  private final Map<String, String> flags;
  private final OutputStream journal;
  private final Map<TopicPartition, Long> next = new HashMap<>();
  private final CountDownLatch joined = new CountDownLatch(1);
  private final CountDownLatch ended = new CountDownLatch(1);
  private FairleadKafkaConsumer<String, String> consumer;
  private volatile boolean leaving;
  private boolean holds;
  private Long heldQueue;

  private JournaledConsumer(Map<String, String> flags) throws IOException {
    this.flags = flags;
    journal = new FileOutputStream(flags.get("journal"), true);
  }

  /** Runs until it is told to leave. */
  public static void main(String[] arguments) throws Exception {
    Map<String, String> flags = new HashMap<>();
    for (int at = 0; at < arguments.length; at += 2) {
      flags.put(arguments[at].substring(2), arguments[at + 1]);
    }
    new JournaledConsumer(flags).run();
    System.exit(0);
  }

  private void run() throws Exception {
    Runtime.getRuntime().addShutdownHook(new Thread(this::leave));
    Thread commands = new Thread(this::obey, "commands");
    commands.setDaemon(true);
    commands.start();
    event("ready");
    joined.await();
    MemberSettings member =
        MemberSettings.builder()
            .gateway((String) settings().get("gateway"))
            .group(flags.get("group"))
            .topics(flags.get("topic"))
            .clientId(flags.get("client-id"))
            .consumeFrom("first_offset")
            .build();
    try (FairleadKafkaConsumer<String, String> opened =
        FairleadKafkaConsumer.<String, String>builder(member)
            .kafka("bootstrap.servers", flags.get("bootstrap"))
            // One message in hand at a time, as the other consumers have it.
            .kafka("max.poll.records", 1)
            .deserializers(new StringDeserializer(), new StringDeserializer())
            .listener(new Diary())
            .start()) {
      consumer = opened;
      event("joined");
      while (!leaving) {
        try {
          for (ConsumerRecord<String, String> record : opened.poll(Duration.ofMillis(200))) {
            process(record);
          }
        } catch (WakeupException woken) {
          continue;
        }
      }
      opened.done();
    }
    event("left");
    ended.countDown();
  }

  private void process(ConsumerRecord<String, String> record) throws InterruptedException {
    TopicPartition partition = new TopicPartition(record.topic(), record.partition());
    synchronized (this) {
      if (holds && (heldQueue == null || heldQueue == record.partition())) {
        write("held", partition, "offset", record.offset());
        while (holds) {
          wait();
        }
      }
    }
    if (consumer.mayWork(record)) {
      long number = Long.parseLong(record.value());
      write("consumed", partition, "offset", record.offset(), "number", number);
      next.put(partition, record.offset() + 1);
    }
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
          default:
            System.exit(0);
        }
      }
    } catch (IOException error) {
      System.err.println("commands: " + error);
    }
    // Whoever wrote the commands is gone.
    System.exit(0);
  }

  private void leave() {
    leaving = true;
    letGo();
    joined.countDown();
    try {
      ended.await();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private synchronized void hold(Long queue) {
    holds = true;
    heldQueue = queue;
  }

  private synchronized void letGo() {
    holds = false;
    notifyAll();
  }

  private Map<?, ?> settings() throws JsonException {
    return (Map<?, ?>) JsonReader.read(flags.get("settings"));
  }

  private void event(String name) {
    Map<String, Object> line = new LinkedHashMap<>();
    line.put("event", name);
    say(JsonWriter.write(line));
  }

  private synchronized void write(String kind, TopicPartition partition, Object... fields) {
    Map<String, Object> line = new LinkedHashMap<>();
    line.put("kind", kind);
    line.put(
        "queue", Arrays.asList(partition.topic(), flags.get("broker-name"), partition.partition()));
    for (int at = 0; at < fields.length; at += 2) {
      line.put((String) fields[at], fields[at + 1]);
    }
    // Other journals take their times from the same clock of this machine.
    line.put("t", System.nanoTime());
    byte[] written = JsonWriter.write(line);
    try {
      journal.write(withLineEnd(written));
    } catch (IOException error) {
      throw new IllegalStateException("journal: " + error, error);
    }
    say(written);
  }

  private static synchronized void say(byte[] line) {
    byte[] whole = withLineEnd(line);
    System.out.write(whole, 0, whole.length);
    System.out.flush();
  }

  private static byte[] withLineEnd(byte[] line) {
    byte[] whole = Arrays.copyOf(line, line.length + 1);
    whole[line.length] = '\n';
    return whole;
  }

  private static List<Long> pair(Epoch epoch) {
    return Arrays.asList(epoch.generation, epoch.number);
  }

  private final class Diary implements QueueListener {
    private final Map<TopicPartition, Epoch> epochs = new HashMap<>();

    @Override
    public void started(TopicPartition partition, Epoch epoch, long offset) {
      epochs.put(partition, epoch);
      next.put(partition, offset);
      write("start", partition, "epoch", pair(epoch), "offset", offset);
    }

    @Override
    public void stopped(TopicPartition partition) {
      Epoch epoch = epochs.remove(partition);
      write("stop", partition, "epoch", pair(epoch), "offset", next.get(partition));
    }

    // The work has ended with the lease: nothing of the partition is processed from here on.
    @Override
    public void lost(TopicPartition partition) {
      stopped(partition);
    }
  }
}
