package io.fairlead.client.session;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/** The answer to a poll. The client stops at once what {@link #working} does not name. */
public final class PollAnswer {
  /** What the client has to say with its next poll, as it got it. */
  public final String state;

  /** How long the lease is, counted from before the poll was sent. */
  public final long leaseMs;

  /** The queues to start. */
  public final List<Start> start;

  /** The queues to stop in order. */
  public final List<Stop> stop;

  /** What the gateway holds the client to be working on. */
  public final Set<WorkName> working;

  /** Who decides what the client holds. */
  public final Standing standing;

  /** Names the freeze that the client has to answer; null without one. */
  public final Epoch freeze;

  /** Makes an answer to a client that cannot stand by. */
  public PollAnswer(
      String state,
      long leaseMs,
      Collection<Start> start,
      Collection<Stop> stop,
      Collection<WorkName> working) {
    this(state, leaseMs, start, stop, working, Standing.OWN, null);
  }

  /** Makes an answer; only one to a client that freezes names a freeze. */
  public PollAnswer(
      String state,
      long leaseMs,
      Collection<Start> start,
      Collection<Stop> stop,
      Collection<WorkName> working,
      Standing standing,
      Epoch freeze) {
    this.state = Objects.requireNonNull(state, "state");
    this.leaseMs = leaseMs;
    this.start = Collections.unmodifiableList(new ArrayList<>(start));
    this.stop = Collections.unmodifiableList(new ArrayList<>(stop));
    this.working = Collections.unmodifiableSet(new HashSet<>(working));
    this.standing = Objects.requireNonNull(standing, "standing");
    this.freeze = freeze;
    if ((standing == Standing.FREEZE) != (freeze != null)) {
      throw new IllegalArgumentException("freeze belongs to Standing.FREEZE, and only there");
    }
  }

  /** The client may read the queue from this offset on. */
  public static final class Start {
    /** The queue and the epoch of the new work. */
    public final WorkName name;

    /** The first offset to read. */
    public final long offset;

    /** Whether the client holds the queue frozen and goes on in place, wherever it is. */
    public final boolean former;

    /** Makes a start at an offset. */
    public Start(WorkName name, long offset) {
      this(name, offset, false);
    }

    /** Makes a start. */
    public Start(WorkName name, long offset, boolean former) {
      this.name = Objects.requireNonNull(name, "name");
      this.offset = offset;
      this.former = former;
    }
  }

  /** The client has to stop the queue, and to say so in time. */
  public static final class Stop {
    /** The queue and the epoch of the work. */
    public final WorkName name;

    /** How much time there is; 0 means that the deadline is over. */
    public final long deadlineMs;

    /** Makes a stop. */
    public Stop(WorkName name, long deadlineMs) {
      this.name = Objects.requireNonNull(name, "name");
      this.deadlineMs = deadlineMs;
    }
  }
}
