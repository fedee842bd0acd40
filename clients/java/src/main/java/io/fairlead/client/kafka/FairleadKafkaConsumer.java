package io.fairlead.client.kafka;

import io.fairlead.client.ClosedException;
import io.fairlead.client.GatewayMember;
import io.fairlead.client.MemberSettings;
import io.fairlead.client.RefusedException;
import io.fairlead.client.session.Epoch;
import io.fairlead.client.session.Subscription;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.ConcurrentModificationException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.WakeupException;

/**
 * A member of a group that reads Kafka by Kafka's own consumer. Which partitions it reads, and from
 * which offset on, the gateway says; the application polls as it is used to.
 *
 * <p>A record counts as processed when the application polls again, or, with {@code explicitDone},
 * when it calls {@link #done(ConsumerRecord)}. Only what is processed is passed over: after a crash
 * or an exception the records in hand come again.
 *
 * <p>One thread at a time may call {@link #poll} and {@link #close}; any thread may call {@link
 * #done(ConsumerRecord)}, {@link #mayWork} and {@link #wakeup}.
 *
 * @param <K> the type of keys
 * @param <V> the type of values
 */
public final class FairleadKafkaConsumer<K, V> implements AutoCloseable {
  private static final Duration CLOSE = Duration.ofSeconds(30);
  private static final long LAST_WORDS_MS = 1_000;

  private final ConsumerSettings<K, V> settings;
  private final Consumer<K, V> consumer;
  private final KafkaReader<K, V> reader;
  private final Inbox inbox;
  private final GatewayMember member;
  private final WorkTable table = new WorkTable();
  private final AtomicBoolean busy = new AtomicBoolean();
  private volatile boolean woken;
  private boolean leaving;
  private boolean closed;
  private long committedAt = System.nanoTime();

  FairleadKafkaConsumer(ConsumerSettings<K, V> settings, Consumer<K, V> consumer) {
    this.settings = settings;
    this.consumer = consumer;
    reader = new KafkaReader<>(consumer, settings.inHandMax());
    inbox = new Inbox(consumer);
    member = new GatewayMember(settings.member(), inbox);
    member.start();
  }

  /**
   * Returns settings for a consumer of this member; {@code start} of them returns the consumer.
   *
   * @param <K> the type of keys
   * @param <V> the type of values
   */
  public static <K, V> ConsumerSettings<K, V> builder(MemberSettings member) {
    return new ConsumerSettings<>(member);
  }

  /**
   * Returns records of the client's partitions; none if none come in time. The records before are
   * processed by that, unless {@code explicitDone} is on.
   *
   * @throws ClosedException the client is closed, or another process has its client id
   * @throws RefusedException the gateway lets the client not join; a later poll may succeed
   * @throws WakeupException somebody called {@link #wakeup}
   */
  public GrantedRecords<K, V> poll(Duration timeout) {
    enter();
    try {
      if (closed) {
        throw new ClosedException("left");
      }
      if (!settings.explicitDone()) {
        table.finishAll();
      }
      long until = System.nanoTime() + timeout.toNanos();
      while (true) {
        turn();
        check();
        long leftNs = Math.max(0, until - System.nanoTime());
        GrantedRecords<K, V> records = granted(fetch(Duration.ofNanos(leftNs)));
        if (!records.isEmpty() || leftNs == 0) {
          return records;
        }
      }
    } finally {
      busy.set(false);
    }
  }

  /** Notes that a record is processed. It counts only while its partition is the client's. */
  public void done(ConsumerRecord<K, V> record) {
    if (table.finish(record)) {
      inbox.ring();
    }
  }

  /** Notes that all records that poll has returned are processed. */
  public void done() {
    table.finishAll();
    inbox.ring();
  }

  /** Returns whether the record is in hand and its partition still the client's, by the clock. */
  public boolean mayWork(ConsumerRecord<K, V> record) {
    QueueWork work = table.at(new TopicPartition(record.topic(), record.partition()));
    return work != null && work.holds(record) && isGranted(work);
  }

  /** Returns the epoch under which the client may work on the partition now; null: it may not. */
  public Epoch epoch(TopicPartition partition) {
    QueueWork work = table.at(partition);
    return work != null && isGranted(work) ? work.name.epoch : null;
  }

  /** Returns the partitions that are the client's now. */
  public Set<TopicPartition> assignment() {
    Set<TopicPartition> result =
        new TreeSet<>(
            Comparator.comparing(TopicPartition::topic)
                .thenComparingInt(TopicPartition::partition));
    for (QueueWork work : table.works()) {
      if (isGranted(work)) {
        result.add(work.partition);
      }
    }
    return result;
  }

  /** Returns why the last request to the gateway failed; null if it did not. */
  public String lastFailure() {
    return member.lastFailure();
  }

  /** Reads other topics from now on. */
  public void subscribe(Collection<String> topics) {
    List<Subscription> wanted = new ArrayList<>();
    for (String topic : topics) {
      wanted.add(new Subscription(topic));
    }
    member.subscribe(wanted);
  }

  /** Lets the poll under way, or else the next one, throw Kafka's WakeupException. */
  public void wakeup() {
    woken = true;
    inbox.ring();
  }

  /** Closes the client as {@link #close(Duration)} does, within 30 seconds. */
  @Override
  public void close() {
    close(CLOSE);
  }

  /**
   * Leaves the group and closes Kafka's consumer. With {@code explicitDone} it waits for the records
   * in hand. Records that are not done come again at the partition's next owner: call {@link
   * #done()} before it, if the last ones are processed.
   */
  public void close(Duration timeout) {
    enter();
    try {
      if (closed) {
        return;
      }
      closed = true;
      leave(timeout.toMillis());
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    } finally {
      member.halt();
      consumer.close(Duration.ofMillis(LAST_WORDS_MS));
      busy.set(false);
    }
  }

  private void leave(long timeoutMs) throws InterruptedException {
    long begun = System.nanoTime();
    // The thread that would poll closes: whoever takes its partitions over need not wait.
    member.leave(0);
    while (member.closed() == null) {
      long leftMs = timeoutMs - (System.nanoTime() - begun) / 1_000_000;
      // Who is late keeps a second for its last words.
      leaving = !settings.explicitDone() || leftMs <= LAST_WORDS_MS;
      turn();
      if (leftMs <= 0) {
        return;
      }
      inbox.await(leaving ? leftMs : Math.max(1, leftMs - LAST_WORDS_MS));
    }
  }

  private void enter() {
    if (!busy.compareAndSet(false, true)) {
      throw new ConcurrentModificationException("one thread at a time may poll or close");
    }
  }

  private void check() {
    String reason = member.closed();
    if (reason != null) {
      throw new ClosedException(reason);
    }
    if (woken) {
      woken = false;
      throw new WakeupException();
    }
    RefusedException refusal = member.refusal();
    if (refusal != null) {
      throw refusal;
    }
  }

  /** Does what the member says, and tells it what the application has done. */
  private void turn() {
    for (QueueWork work : table.apply(inbox.drain())) {
      settings.listener().lost(work.partition);
    }
    for (QueueWork work : table.takeLost(leaving)) {
      member.stopped(work.name, null, null);
    }
    List<QueueWork> works = table.works();
    for (QueueWork work : works) {
      if (!work.reading && !work.stopping) {
        settings.listener().started(work.partition, work.name.epoch, work.next());
      }
    }
    reader.assign(works);
    for (QueueWork work : works) {
      report(work);
    }
    commitNowAndThen(works);
  }

  private void report(QueueWork work) {
    long position = work.position();
    if (work.stopping && (leaving || work.inHand() == 0)) {
      if (settings.commitOffsets() && isGranted(work)) {
        reader.commit(Collections.singletonList(work), true);
      }
      // Before the release: the next owner may start the moment that it is said.
      settings.listener().stopped(work.partition);
      table.end(work);
      member.stopped(work.name, position, work.end());
    } else if (position != work.reported || !Objects.equals(work.end(), work.reportedEnd)) {
      work.reported = position;
      work.reportedEnd = work.end();
      member.progressed(work.name, position, work.end());
    }
  }

  private void commitNowAndThen(List<QueueWork> works) {
    long nowNs = System.nanoTime();
    if (!settings.commitOffsets() || nowNs - committedAt < settings.commitMs() * 1_000_000) {
      return;
    }
    committedAt = nowNs;
    List<QueueWork> granted = new ArrayList<>();
    for (QueueWork work : works) {
      if (isGranted(work)) {
        granted.add(work);
      }
    }
    reader.commit(granted, false);
  }

  private ConsumerRecords<K, V> fetch(Duration timeout) {
    List<QueueWork> works = new ArrayList<>();
    for (QueueWork work : table.works()) {
      if (!work.stopping) {
        works.add(work);
      }
    }
    if (works.isEmpty()) {
      try {
        inbox.await(timeout.toMillis());
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
        throw new InterruptException(interrupted);
      }
      return ConsumerRecords.empty();
    }
    Duration wait = inbox.beginFetch() ? timeout : Duration.ZERO;
    try {
      return reader.fetch(works, wait);
    } finally {
      inbox.endFetch();
    }
  }

  /** Returns the records whose partition is the client's at this moment, and notes them as given. */
  private GrantedRecords<K, V> granted(ConsumerRecords<K, V> records) {
    for (QueueWork work : table.apply(inbox.drain())) {
      settings.listener().lost(work.partition);
    }
    Map<TopicPartition, List<ConsumerRecord<K, V>>> result = new HashMap<>();
    for (QueueWork work : table.works()) {
      if (work.stopping || !work.reading) {
        continue;
      }
      // The clock is asked again for each partition: a long poll may have outlived the lease.
      List<ConsumerRecord<K, V>> found = records.records(work.partition);
      if (!isGranted(work)) {
        continue;
      }
      for (ConsumerRecord<K, V> record : found) {
        work.handOut(record);
      }
      reader.note(work);
      if (!found.isEmpty()) {
        result.put(work.partition, found);
      }
    }
    return new GrantedRecords<>(result);
  }

  private boolean isGranted(QueueWork work) {
    return work.name.epoch.equals(member.works(work.name.queue));
  }
}
