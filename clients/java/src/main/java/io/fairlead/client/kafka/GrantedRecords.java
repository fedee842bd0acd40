package io.fairlead.client.kafka;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;

/**
 * What one poll returned: records of partitions that were the client's at that moment.
 *
 * @param <K> the type of keys
 * @param <V> the type of values
 */
public final class GrantedRecords<K, V> implements Iterable<ConsumerRecord<K, V>> {
  private final Map<TopicPartition, List<ConsumerRecord<K, V>>> records;
  private final int count;

  GrantedRecords(Map<TopicPartition, List<ConsumerRecord<K, V>>> given) {
    records = Collections.unmodifiableMap(new LinkedHashMap<>(given));
    int sum = 0;
    for (List<ConsumerRecord<K, V>> each : given.values()) {
      sum += each.size();
    }
    count = sum;
  }

  /** Returns the partitions that have records here. */
  public Set<TopicPartition> partitions() {
    return records.keySet();
  }

  /** Returns the records of a partition, in the order of their offsets. */
  public List<ConsumerRecord<K, V>> records(TopicPartition partition) {
    List<ConsumerRecord<K, V>> found = records.get(partition);
    return found == null ? Collections.<ConsumerRecord<K, V>>emptyList() : found;
  }

  /** Returns how many records there are. */
  public int count() {
    return count;
  }

  /** Returns whether there are none. */
  public boolean isEmpty() {
    return count == 0;
  }

  @Override
  public Iterator<ConsumerRecord<K, V>> iterator() {
    List<ConsumerRecord<K, V>> all = new ArrayList<>(count);
    records.values().forEach(all::addAll);
    return Collections.unmodifiableList(all).iterator();
  }
}
