package io.fairlead.client.kafka;

import io.fairlead.client.MemberSettings;
import io.fairlead.client.SettingsException;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.Deserializer;

/**
 * The settings of a {@link FairleadKafkaConsumer}; {@link FairleadKafkaConsumer#builder} makes some.
 *
 * @param <K> the type of keys
 * @param <V> the type of values
 */
public final class ConsumerSettings<K, V> {
  private final MemberSettings member;
  private final Map<String, Object> kafka = new HashMap<>();
  private Deserializer<K> keys;
  private Deserializer<V> values;
  private boolean explicitDone;
  private int inHandMax = 1_000;
  private boolean commitOffsets;
  private long commitMs = 5_000;
  private QueueListener listener = new QueueListener() {};

  ConsumerSettings(MemberSettings member) {
    this.member = member;
  }

  /** Sets an option of Kafka's consumer, such as {@code bootstrap.servers}. */
  public ConsumerSettings<K, V> kafka(String option, Object value) {
    kafka.put(option, value);
    return this;
  }

  /** Sets options of Kafka's consumer. */
  public ConsumerSettings<K, V> kafka(Properties options) {
    for (String option : options.stringPropertyNames()) {
      kafka.put(option, options.getProperty(option));
    }
    return this;
  }

  /** Sets what makes keys and values of bytes; else name classes by {@link #kafka}. */
  public ConsumerSettings<K, V> deserializers(Deserializer<K> ofKeys, Deserializer<V> ofValues) {
    keys = ofKeys;
    values = ofValues;
    return this;
  }

  /**
   * Sets who says that a record is processed: with true {@link FairleadKafkaConsumer#done}, in any
   * order and from any thread; otherwise the next poll.
   */
  public ConsumerSettings<K, V> explicitDone(boolean wanted) {
    explicitDone = wanted;
    return this;
  }

  /** Sets how many records of one partition may be in hand before the consumer pauses it. */
  public ConsumerSettings<K, V> inHandMax(int most) {
    inHandMax = most;
    return this;
  }

  /** Sets whether the client also commits its positions as the group's offsets in Kafka. */
  public ConsumerSettings<K, V> commitOffsets(boolean wanted) {
    commitOffsets = wanted;
    return this;
  }

  /** Sets how often it commits. */
  public ConsumerSettings<K, V> commitMs(long time) {
    commitMs = time;
    return this;
  }

  /** Sets who hears which partitions come and go. */
  public ConsumerSettings<K, V> listener(QueueListener hears) {
    listener = hears;
    return this;
  }

  /**
   * Returns a consumer, which begins to join.
   *
   * @throws SettingsException a setting cannot work
   */
  public FairleadKafkaConsumer<K, V> start() {
    if (inHandMax < 1) {
      throw new SettingsException("inHandMax", inHandMax + " cannot be used", "give 1 or more");
    }
    if (commitMs < 1) {
      throw new SettingsException("commitMs", commitMs + " cannot be used", "give 1 or more");
    }
    Map<String, Object> options = options();
    KafkaConsumer<K, V> consumer =
        keys == null
            ? new KafkaConsumer<K, V>(options)
            : new KafkaConsumer<K, V>(options, keys, values);
    return new FairleadKafkaConsumer<>(this, consumer);
  }

  private Map<String, Object> options() {
    if (!kafka.containsKey(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG)) {
      throw new SettingsException(
          "bootstrap.servers",
          "is not given",
          "say where Kafka is: kafka(\"bootstrap.servers\", \"host:port\")");
    }
    Map<String, Object> options = new HashMap<>(kafka);
    fix(options, ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false", "use commitOffsets(true)");
    fix(
        options,
        ConsumerConfig.AUTO_OFFSET_RESET_CONFIG,
        "none",
        "leave it out: a partition begins where the answer says; consumeFrom is for new groups");
    fix(
        options,
        ConsumerConfig.GROUP_ID_CONFIG,
        member.group(),
        "leave it out, or give the same name as group(...)");
    if (!commitOffsets) {
      options.remove(ConsumerConfig.GROUP_ID_CONFIG);
    }
    return options;
  }

  private static void fix(Map<String, Object> options, String option, String value, String remedy) {
    Object given = options.put(option, value);
    if (given != null && !given.toString().equals(value)) {
      throw new SettingsException(option, "'" + given + "' cannot be used here", remedy);
    }
  }

  MemberSettings member() {
    return member;
  }

  boolean explicitDone() {
    return explicitDone;
  }

  int inHandMax() {
    return inHandMax;
  }

  boolean commitOffsets() {
    return commitOffsets;
  }

  long commitMs() {
    return commitMs;
  }

  QueueListener listener() {
    return listener;
  }
}
