package io.fairlead.client.kafka;

import io.fairlead.client.session.WorkName;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;

/** The work on one partition: how far it is, and which records the application has in hand. */
final class QueueWork {
  final WorkName name;
  final TopicPartition partition;

  /** Somebody waits for its end: no more of its records are handed out. */
  boolean stopping;

  /** The consumer reads it, from its offset on. */
  boolean reading;

  /** The consumer does not read it, because too much of it is in hand. */
  volatile boolean full;

  long reported;
  Long reportedEnd;
  long committed;

  private final TreeMap<Long, ConsumerRecord<?, ?>> inHand = new TreeMap<>();
  private long next;
  private Long end;

  QueueWork(WorkName name, long offset) {
    this.name = name;
    partition = new TopicPartition(TopicNames.onKafka(name.queue.topic), name.queue.id);
    next = offset;
    reported = offset;
    committed = offset;
  }

  /** Notes that the application gets this record. */
  synchronized void handOut(ConsumerRecord<?, ?> record) {
    inHand.put(record.offset(), record);
    next = Math.max(next, record.offset() + 1);
  }

  /** Notes how far the consumer has read, and where the partition ends; null if nobody knows. */
  synchronized void readTo(long offset, Long newEnd) {
    next = offset;
    end = newEnd == null ? end : newEnd;
  }

  /** Returns whether this very record is in hand. */
  synchronized boolean holds(ConsumerRecord<?, ?> record) {
    return inHand.get(record.offset()) == record;
  }

  /** Notes that a record is processed, and returns whether it was in hand. */
  synchronized boolean finish(ConsumerRecord<?, ?> record) {
    // Another work may have handed out the same offset: only this very record counts.
    if (!holds(record)) {
      return false;
    }
    inHand.remove(record.offset());
    return true;
  }

  /** Notes that everything in hand is processed. */
  synchronized void finishAll() {
    inHand.clear();
  }

  /** Returns how many records are in hand. */
  synchronized int inHand() {
    return inHand.size();
  }

  /** Returns the next offset to process: everything below is processed. */
  synchronized long position() {
    return inHand.isEmpty() ? next : inHand.firstKey();
  }

  /** Returns the next offset to read. */
  synchronized long next() {
    return next;
  }

  /** Returns where the partition ends; null if nobody knows. */
  synchronized Long end() {
    return end;
  }
}
