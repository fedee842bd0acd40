package io.fairlead.client.json;

import java.io.IOException;

/** A text that is no JSON, or is none that is accepted here; the message says where and why. */
public final class JsonException extends IOException {
  private static final long serialVersionUID = 1L;

  /** Makes an exception with this message. */
  public JsonException(String message) {
    super(message);
  }
}
