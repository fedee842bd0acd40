package io.fairlead.rocketmq;

import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/** How often each thing has happened since the consumer was attached. */
public final class Counters {
  /** What may happen. */
  enum Thing {
    /** A queue was begun. */
    ADOPTED,
    /** A queue was given up. */
    RELEASED,
    /** A queue went with its lease, or at a deadline. */
    LOST,
    /** A lease ended, and a queue was kept all the same. */
    KEPT,
    /** A gate refused a call of the listener. */
    REFUSED_CALLS,
    /** A message that the listener failed went back to the broker. */
    SENT_BACK,
    /** The broker did not take one back. */
    FAILED_SEND_BACKS,
    /** A message that a closing gate had left out was processed. */
    DRAINED,
    /** A commit was not taken. */
    FAILED_COMMITS,
    /** The broker kept a queue's lock for somebody else. */
    LOCK_WAITS,
    /** RocketMQ took a queue away: a reset, or an offset that the broker does not have. */
    TAKEN_AWAY,
    /** A reset to an older offset was refused. */
    REFUSED_RESETS,
    /** RocketMQ fed a queue that is not the member's. */
    SWEPT,
    /** A queue was named in the answer to a freeze. */
    FROZEN,
    /** A frozen queue was granted, and went on in place. */
    TAKEN_OVER,
    /** A queue went back to RocketMQ's strategy, and went on in place. */
    GIVEN_BACK
  }

  private final Map<Thing, AtomicLong> counts = new EnumMap<>(Thing.class);

  Counters() {
    for (Thing thing : Thing.values()) {
      counts.put(thing, new AtomicLong());
    }
  }

  void add(Thing thing) {
    counts.get(thing).incrementAndGet();
  }

  /** Returns name and count of each. */
  public Map<String, Long> all() {
    Map<String, Long> result = new LinkedHashMap<>();
    counts.forEach((thing, count) -> result.put(name(thing), count.get()));
    return result;
  }

  private static String name(Thing thing) {
    return thing.name().toLowerCase(Locale.ROOT);
  }
}
