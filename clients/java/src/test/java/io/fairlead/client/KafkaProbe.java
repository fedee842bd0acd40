package io.fairlead.client;

import io.fairlead.client.json.JsonReader;
import io.fairlead.client.kafka.ConsumerSettings;
import io.fairlead.client.kafka.FairleadKafkaConsumer;
import io.fairlead.client.kafka.GrantedRecords;
import io.fairlead.client.kafka.QueueListener;
import io.fairlead.client.session.Epoch;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;

/** A consumer that a test drives. It polls and closes by one thread, and does the rest by another. */
public final class KafkaProbe {
  private final FairleadKafkaConsumer<String, String> consumer;
  private final Map<String, ConsumerRecord<String, String>> given = new ConcurrentHashMap<>();

  private KafkaProbe(FairleadKafkaConsumer<String, String> consumer) {
    this.consumer = consumer;
  }

  /** Runs until its input ends. */
  public static void main(String[] arguments) throws Exception {
    Map<?, ?> given = (Map<?, ?>) JsonReader.read(arguments[0]);
    KafkaProbe probe;
    try {
      probe = new KafkaProbe(settings(given).start());
    } catch (SettingsException error) {
      Probe.say("refused", error.setting, error.getMessage());
      return;
    }
    ExecutorService application = Executors.newSingleThreadExecutor();
    List<?> command = Probe.command();
    while (!command.isEmpty()) {
      List<?> next = command;
      if (command.get(0).equals("poll") || command.get(0).equals("close")) {
        application.execute(() -> probe.run(next));
      } else {
        probe.run(next);
      }
      command = Probe.command();
    }
    Runtime.getRuntime().halt(0);
  }

  private static ConsumerSettings<String, String> settings(Map<?, ?> given) throws Exception {
    ConsumerSettings<String, String> settings =
        FairleadKafkaConsumer.<String, String>builder(Probe.settings(given))
            .deserializers(new StringDeserializer(), new StringDeserializer())
            .listener(new Listener());
    for (Map.Entry<?, ?> option : ((Map<?, ?>) given.get("kafka")).entrySet()) {
      settings.kafka((String) option.getKey(), option.getValue());
    }
    if (given.get("explicit_done") != null) {
      settings.explicitDone((Boolean) given.get("explicit_done"));
    }
    if (given.get("in_hand_max") != null) {
      settings.inHandMax(((Long) given.get("in_hand_max")).intValue());
    }
    if (given.get("commit_ms") != null) {
      settings.commitOffsets(true).commitMs((Long) given.get("commit_ms"));
    }
    return settings;
  }

  private void run(List<?> command) {
    switch ((String) command.get(0)) {
      case "poll":
        poll((Long) command.get(1));
        break;
      case "close":
        consumer.close(Duration.ofMillis((Long) command.get(1)));
        Probe.say("close");
        break;
      case "done":
        consumer.done(given.get(command.get(1) + "/" + command.get(2)));
        Probe.say("done");
        break;
      case "done_all":
        consumer.done();
        Probe.say("done_all");
        break;
      case "may":
        Probe.say("may", consumer.mayWork(given.get(command.get(1) + "/" + command.get(2))));
        break;
      case "wakeup":
        consumer.wakeup();
        break;
      case "assignment":
        List<Object> partitions = new ArrayList<>();
        for (TopicPartition each : consumer.assignment()) {
          partitions.add(each.partition());
        }
        Probe.say("assignment", partitions);
        break;
      default:
        throw new IllegalArgumentException(command.toString());
    }
  }

  private void poll(long timeoutMs) {
    try {
      GrantedRecords<String, String> records = consumer.poll(Duration.ofMillis(timeoutMs));
      List<Object> rows = new ArrayList<>();
      for (ConsumerRecord<String, String> record : records) {
        given.put(record.partition() + "/" + record.offset(), record);
        rows.add(Arrays.<Object>asList(record.partition(), record.offset(), record.value()));
      }
      Probe.say("poll", rows);
    } catch (RuntimeException error) {
      Probe.say("thrown", error.getClass().getSimpleName(), error.getMessage());
    }
  }

  private static final class Listener implements QueueListener {
    @Override
    public void started(TopicPartition partition, Epoch epoch, long offset) {
      Probe.say("started", partition.partition(), offset);
    }

    @Override
    public void stopped(TopicPartition partition) {
      Probe.say("stopped", partition.partition());
    }

    @Override
    public void lost(TopicPartition partition) {
      Probe.say("lost", partition.partition());
    }
  }
}
