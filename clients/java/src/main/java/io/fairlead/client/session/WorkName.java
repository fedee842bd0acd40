package io.fairlead.client.session;

import java.util.Objects;

/** Names one work: a queue, and the epoch under which the client works on it. */
public final class WorkName {
  /** The queue. */
  public final QueueName queue;

  /** The epoch. */
  public final Epoch epoch;

  /** Names a work. */
  public WorkName(QueueName queue, Epoch epoch) {
    this.queue = Objects.requireNonNull(queue, "queue");
    this.epoch = Objects.requireNonNull(epoch, "epoch");
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof WorkName
        && queue.equals(((WorkName) other).queue)
        && epoch.equals(((WorkName) other).epoch);
  }

  @Override
  public int hashCode() {
    return queue.hashCode() * 31 + epoch.hashCode();
  }

  @Override
  public String toString() {
    return queue + "@" + epoch;
  }
}
