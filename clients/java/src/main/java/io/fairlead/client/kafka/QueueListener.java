package io.fairlead.client.kafka;

import io.fairlead.client.session.Epoch;
import org.apache.kafka.common.TopicPartition;

/** Hears which partitions come and go. The thread that calls poll or close calls it. */
public interface QueueListener {
  /**
   * Records of the partition may come from now on.
   *
   * @param partition the partition
   * @param epoch a store that keeps the greatest epoch can refuse whoever had the partition before
   * @param offset the first offset
   */
  default void started(TopicPartition partition, Epoch epoch, long offset) {}

  /**
   * The client has finished the partition, and releases it when this returns: another client may
   * start on it then, so end here what must be ended before.
   */
  default void stopped(TopicPartition partition) {}

  /** The partition is another client's now: what is in hand of it does not count any more. */
  default void lost(TopicPartition partition) {}
}
