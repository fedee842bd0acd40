package io.fairlead.client.session;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/** The answer to a freeze: all that the client holds. */
public final class Frozen {
  /** Names the freeze. */
  public final Epoch epoch;

  /** The queues, each with the next offset to read; null where nobody knows it. */
  public final Map<QueueName, Long> queues;

  Frozen(Epoch epoch, Map<QueueName, Long> queues) {
    this.epoch = Objects.requireNonNull(epoch, "epoch");
    this.queues = Collections.unmodifiableMap(new LinkedHashMap<>(queues));
  }
}
