package io.fairlead.client.kafka;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.WakeupException;

/** What is asked of Kafka's own consumer, by its public methods, by one thread. */
final class KafkaReader<K, V> {
  private static final Logger LOG = Logger.getLogger("io.fairlead.client");
  private static final Duration AT_ONCE = Duration.ZERO;
  private static final Duration ENDS = Duration.ofSeconds(5);
  private static final Duration COMMIT = Duration.ofSeconds(2);

  private final Consumer<K, V> consumer;
  private final int inHandMax;
  private Set<TopicPartition> assigned = new HashSet<>();

  KafkaReader(Consumer<K, V> consumer, int inHandMax) {
    this.consumer = consumer;
    this.inHandMax = inHandMax;
  }

  /** Reads the partitions of these works, each new one from its offset on. */
  void assign(List<QueueWork> works) {
    Set<TopicPartition> wanted = new HashSet<>();
    for (QueueWork work : works) {
      if (!work.stopping) {
        wanted.add(work.partition);
      }
    }
    if (!wanted.equals(assigned)) {
      consumer.assign(wanted);
      assigned = wanted;
    }
    List<TopicPartition> full = new ArrayList<>();
    List<TopicPartition> free = new ArrayList<>();
    for (QueueWork work : works) {
      if (!work.stopping && !work.reading) {
        consumer.seek(work.partition, work.next());
        work.reading = true;
      }
      if (!work.stopping) {
        work.full = work.inHand() >= inHandMax;
        (work.full ? full : free).add(work.partition);
      }
    }
    consumer.pause(full);
    consumer.resume(free);
  }

  /** Returns the records that have come, at least one if some come in time. */
  ConsumerRecords<K, V> fetch(List<QueueWork> works, Duration timeout) {
    try {
      return consumer.poll(timeout);
    } catch (WakeupException woken) {
      return ConsumerRecords.empty();
    } catch (OffsetOutOfRangeException outside) {
      correct(works, outside.offsetOutOfRangePartitions());
      return ConsumerRecords.empty();
    }
  }

  /** Notes how far the consumer has read a work's partition, and where the partition ends. */
  void note(QueueWork work) {
    try {
      long next = consumer.position(work.partition, AT_ONCE);
      OptionalLong lag = consumer.currentLag(work.partition);
      work.readTo(next, lag.isPresent() ? Long.valueOf(next + lag.getAsLong()) : null);
    } catch (TimeoutException | WakeupException unknown) {
      LOG.log(Level.FINE, "the position is not known yet", unknown);
    }
  }

  /** An offset outside of its partition: go to the nearest end. */
  private void correct(List<QueueWork> works, Map<TopicPartition, Long> outside) {
    try {
      Map<TopicPartition, Long> begin = consumer.beginningOffsets(outside.keySet(), ENDS);
      Map<TopicPartition, Long> end = consumer.endOffsets(outside.keySet(), ENDS);
      for (QueueWork work : works) {
        Long offset = outside.get(work.partition);
        if (offset == null) {
          continue;
        }
        long first = begin.get(work.partition);
        long nearest = Math.max(first, Math.min(offset, end.get(work.partition)));
        LOG.warning(
            work.partition + " has no offset " + offset + "; reading goes on at " + nearest);
        consumer.seek(work.partition, nearest);
        work.readTo(nearest, end.get(work.partition));
      }
    } catch (TimeoutException | WakeupException later) {
      // The next poll says again which offsets are outside.
      LOG.log(Level.FINE, "the ends are not known yet", later);
    }
  }

  /** Commits positions as the group's offsets; a failure leaves the position to the next commit. */
  void commit(List<QueueWork> works, boolean wait) {
    Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
    for (QueueWork work : works) {
      long position = work.position();
      if (position != work.committed) {
        offsets.put(work.partition, new OffsetAndMetadata(position));
        work.committed = position;
      }
    }
    if (offsets.isEmpty()) {
      return;
    }
    if (!wait) {
      consumer.commitAsync(offsets, (committed, error) -> warn(error));
      return;
    }
    try {
      try {
        consumer.commitSync(offsets, COMMIT);
      } catch (WakeupException woken) {
        consumer.commitSync(offsets, COMMIT);
      }
    } catch (KafkaException error) {
      warn(error);
    }
  }

  private static void warn(Exception error) {
    if (error != null) {
      LOG.log(Level.WARNING, "offsets were not committed; Fairlead has them all the same", error);
    }
  }
}
