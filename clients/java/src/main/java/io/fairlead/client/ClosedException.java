package io.fairlead.client;

/** The client is closed and does not come back; the message says why. */
public final class ClosedException extends IllegalStateException {
  private static final long serialVersionUID = 1L;

  /** Why: "left", or "duplicate_client_id". */
  public final String reason;

  /**
   * Makes an exception.
   *
   * @param reason why the client is closed
   */
  public ClosedException(String reason) {
    super(
        reason.equals("duplicate_client_id")
            ? "another process has joined with this client id; give each process its own clientId"
            : "the client is closed (" + reason + ")");
    this.reason = reason;
  }
}
