package io.fairlead.client.session;

/** Who decides what a client holds; one that cannot stand by is always at {@link #OWN}. */
public enum Standing {
  /** Nobody yet: it holds nothing until an answer says so. */
  WAIT,
  /** The data plane's former strategy, which the application follows. */
  FOLLOW,
  /** Nobody: the application keeps what it holds and takes nothing. */
  FREEZE,
  /** The engine. */
  OWN
}
