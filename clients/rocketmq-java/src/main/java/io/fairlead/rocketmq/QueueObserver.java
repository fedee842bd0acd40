package io.fairlead.rocketmq;

import io.fairlead.client.session.Epoch;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * Hears what becomes of each queue, for a journal or metrics of the application. Several threads
 * call it; a queue waits meanwhile, so it must be quick.
 */
public interface QueueObserver {
  /** The queue is the member's from here on, and is read from {@code offset} on. */
  default void started(MessageQueue queue, Epoch epoch, long offset) {}

  /**
   * The queue goes on behind offsets that no listener has processed, up to {@code end}, not
   * included. {@code why} is {@code filtered}: the subscription does not want them; {@code
   * sent_back}: they come again through the topic of retries; or {@code moved}: the broker no longer
   * has them, or an operator has reset the offset.
   */
  default void passed(MessageQueue queue, Epoch epoch, long offset, long end, String why) {}

  /** The work has ended, and nobody has been told yet; {@code offset} is the next to read. */
  default void stopped(MessageQueue queue, Epoch epoch, long offset) {}
}
