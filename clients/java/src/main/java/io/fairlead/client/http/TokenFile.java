package io.fairlead.client.http;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;

/**
 * A file with a bearer token. Each request reads it, so a new token counts at once. While the file
 * cannot be read, as in the moment in which it is replaced, the last token counts.
 */
final class TokenFile {
  private static final Pattern TOKEN = Pattern.compile("[A-Za-z0-9._~+/\\-]+=*");
  private static final int BYTES_MAX = 16_384;

  private final Path file;
  private String last;

  TokenFile(Path file) {
    this.file = file;
  }

  /** Returns the token; throws with the remedy if there has never been one. */
  synchronized String token() throws IOException {
    try {
      last = read();
    } catch (IOException error) {
      if (last == null) {
        throw error;
      }
    }
    return last;
  }

  private String read() throws IOException {
    if (Files.size(file) > BYTES_MAX) {
      throw new IOException("tokenFile: " + file + " is too long; it has to hold one token");
    }
    String text = new String(Files.readAllBytes(file), StandardCharsets.US_ASCII).trim();
    if (!TOKEN.matcher(text).matches()) {
      throw new IOException("tokenFile: " + file + " does not hold one token on one line");
    }
    return text;
  }
}
