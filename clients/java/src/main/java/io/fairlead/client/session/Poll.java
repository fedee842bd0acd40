package io.fairlead.client.session;

import java.util.Collections;
import java.util.List;

/** A poll, as the client sends it: heartbeat, progress, releases, and a wait for news. */
public final class Poll {
  /** The name of the session. */
  public final String session;

  /** The state of the newest answer, unchanged. */
  public final String state;

  /** Greater than the number of every earlier request. */
  public final long sequence;

  /** How long the gateway may wait for news. */
  public final long waitMs;

  /** What the client works on. */
  public final List<Work> working;

  /** What the client has stopped since its last answered poll. */
  public final List<Work> stopped;

  /** The client's new topics; null if they are as before. */
  public final List<Subscription> topics;

  /** Whether the client starts nothing more, whatever an answer tells it. */
  public final boolean leaving;

  /** Where the client is; null if it cannot stand by. */
  public final Standing standing;

  /** The answer to the newest freeze; null if there is none. */
  public final Frozen frozen;

  Poll(
      String session,
      String state,
      long sequence,
      long waitMs,
      List<Work> working,
      List<Work> stopped,
      List<Subscription> topics,
      boolean leaving,
      Standing standing,
      Frozen frozen) {
    this.session = session;
    this.state = state;
    this.sequence = sequence;
    this.waitMs = waitMs;
    this.working = Collections.unmodifiableList(working);
    this.stopped = Collections.unmodifiableList(stopped);
    this.topics = topics;
    this.leaving = leaving;
    this.standing = standing;
    this.frozen = frozen;
  }
}
