package io.fairlead.client.session;

/** What a session waits for. */
public enum ThinState {
  /** An answer to its join; it has no lease. */
  JOINING,
  /** Answers to its polls; it holds a lease. */
  POLLING,
  /** The end of its work; it starts nothing more. */
  LEAVING,
  /** An answer to its last request, which ends the session. */
  ENDING,
  /** The end of its work; it has no lease. */
  FENCED,
  /** Nothing. */
  CLOSED
}
