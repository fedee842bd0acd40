package io.fairlead.client;

/** The gateway refuses what the client asks; the message has its words and its remedy. */
public final class RefusedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** The HTTP status of the answer. */
  public final int status;

  /**
   * Makes an exception.
   *
   * @param status the HTTP status of the answer
   * @param message what the gateway said
   */
  public RefusedException(int status, String message) {
    super(message);
    this.status = status;
  }
}
