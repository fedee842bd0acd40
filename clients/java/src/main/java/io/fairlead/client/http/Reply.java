package io.fairlead.client.http;

import io.fairlead.client.RefusedException;
import io.fairlead.client.session.Joined;
import io.fairlead.client.session.PollAnswer;

/** What came of a request; one of the fields says it, and without any of them the session left. */
public final class Reply {
  /** The answer to a join. */
  public final Joined joined;

  /** The answer to a poll. */
  public final PollAnswer answer;

  /** Why the session is over. */
  public final String lost;

  /** Why the gateway refuses the request, now and always; somebody has to change something. */
  public final RefusedException refused;

  /** Why no answer came this time. */
  public final String failed;

  /** How long the gateway asks the client to wait; 0 if it does not. */
  public final long retryAfterMs;

  private Reply(
      Joined joined,
      PollAnswer answer,
      String lost,
      RefusedException refused,
      String failed,
      long retryAfterMs) {
    this.joined = joined;
    this.answer = answer;
    this.lost = lost;
    this.refused = refused;
    this.failed = failed;
    this.retryAfterMs = retryAfterMs;
  }

  static Reply joined(Joined joined) {
    return new Reply(joined, null, null, null, null, 0);
  }

  static Reply answered(PollAnswer answer) {
    return new Reply(null, answer, null, null, null, 0);
  }

  static Reply left() {
    return new Reply(null, null, null, null, null, 0);
  }

  static Reply lost(String reason) {
    return new Reply(null, null, reason, null, null, 0);
  }

  static Reply refused(RefusedException refusal) {
    return new Reply(null, null, null, refusal, null, 0);
  }

  static Reply failed(String why, long retryAfterMs) {
    return new Reply(null, null, null, null, why, retryAfterMs);
  }
}
