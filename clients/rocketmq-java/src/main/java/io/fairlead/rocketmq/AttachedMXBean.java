package io.fairlead.rocketmq;

import java.util.List;
import java.util.Map;

/** What JMX shows of an attached consumer, as {@code io.fairlead.rocketmq:type=Attached}. */
public interface AttachedMXBean {
  /** Returns what the member waits for: JOINING, POLLING and so on. */
  String getState();

  /** Returns why the last request to the gateway failed; empty if it did not. */
  String getLastFailure();

  /** Returns the queues that the member works on. */
  List<String> getQueues();

  /** Returns how often each thing has happened. */
  Map<String, Long> getCounts();
}
