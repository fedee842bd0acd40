package io.fairlead.client.session;

import java.util.Objects;

/** The answer to a join. */
public final class Joined {
  /** The name of the session. */
  public final String session;

  /** What the client has to say with its next poll, as it got it. */
  public final String state;

  /** How long the lease is, counted from before the join was sent. */
  public final long leaseMs;

  /** The longest time between two polls. */
  public final long pollMs;

  /** Makes an answer. */
  public Joined(String session, String state, long leaseMs, long pollMs) {
    this.session = Objects.requireNonNull(session, "session");
    this.state = Objects.requireNonNull(state, "state");
    this.leaseMs = leaseMs;
    this.pollMs = pollMs;
  }
}
