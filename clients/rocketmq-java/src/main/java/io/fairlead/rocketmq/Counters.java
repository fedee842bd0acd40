package io.fairlead.rocketmq;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/** How often each thing has happened since the consumer was attached. */
public final class Counters {
  final AtomicLong adopted = new AtomicLong();
  final AtomicLong released = new AtomicLong();
  final AtomicLong lost = new AtomicLong();
  final AtomicLong refusedCalls = new AtomicLong();
  final AtomicLong sentBack = new AtomicLong();
  final AtomicLong failedSendBacks = new AtomicLong();
  final AtomicLong failedCommits = new AtomicLong();
  final AtomicLong lockWaits = new AtomicLong();
  final AtomicLong takenAway = new AtomicLong();

  Counters() {}

  /** Returns name and count of each. */
  public Map<String, Long> all() {
    Map<String, Long> result = new LinkedHashMap<>();
    result.put("adopted", adopted.get());
    result.put("released", released.get());
    result.put("lost", lost.get());
    result.put("refused_calls", refusedCalls.get());
    result.put("sent_back", sentBack.get());
    result.put("failed_send_backs", failedSendBacks.get());
    result.put("failed_commits", failedCommits.get());
    result.put("lock_waits", lockWaits.get());
    result.put("taken_away", takenAway.get());
    return result;
  }
}
