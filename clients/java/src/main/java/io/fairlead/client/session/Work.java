package io.fairlead.client.session;

import java.util.Objects;

/** The work on one queue: what the client works on, or what it has stopped, and how far it is. */
public final class Work {
  /** The queue. */
  public final QueueName queue;

  /** The epoch under which the client works on it. */
  public final Epoch epoch;

  /** The next offset to read. */
  public final long position;

  /** Where the queue ends now; null if nobody knows. */
  public final Long end;

  /** Describes the work. */
  public Work(QueueName queue, Epoch epoch, long position, Long end) {
    this.queue = Objects.requireNonNull(queue, "queue");
    this.epoch = Objects.requireNonNull(epoch, "epoch");
    this.position = position;
    this.end = end;
  }

  @Override
  public String toString() {
    return queue + "@" + epoch + " at " + position;
  }
}
