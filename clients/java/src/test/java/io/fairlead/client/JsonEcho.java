package io.fairlead.client;

import io.fairlead.client.json.JsonException;
import io.fairlead.client.json.JsonReader;
import io.fairlead.client.json.JsonWriter;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** Reads texts, each behind its length, and answers what it reads: '=' and JSON, or '!' and why. */
public final class JsonEcho {
  private JsonEcho() {}

  /** Answers until the input ends. */
  public static void main(String[] arguments) throws IOException {
    DataInputStream in = new DataInputStream(System.in);
    DataOutputStream out = new DataOutputStream(System.out);
    while (true) {
      byte[] text;
      try {
        text = new byte[in.readInt()];
      } catch (EOFException end) {
        return;
      }
      in.readFully(text);
      byte[] answer = answer(text);
      out.writeInt(answer.length);
      out.write(answer);
      out.flush();
    }
  }

  private static byte[] answer(byte[] text) {
    try {
      Object value = JsonReader.read(text);
      // Doubles are read and never written: the client has none.
      byte[] written = value instanceof Double ? bytes(value.toString()) : JsonWriter.write(value);
      return bytes("=" + new String(written, StandardCharsets.UTF_8));
    } catch (JsonException refused) {
      return bytes("!" + refused.getMessage());
    }
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
