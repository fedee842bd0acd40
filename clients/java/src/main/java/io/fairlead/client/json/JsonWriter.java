package io.fairlead.client.json;

import java.nio.charset.StandardCharsets;
import java.util.Map;

/** Writes maps, collections, strings, whole numbers, booleans and null as JSON. */
public final class JsonWriter {
  private final StringBuilder out = new StringBuilder();

  private JsonWriter() {}

  /**
   * Returns a value as JSON in UTF-8.
   *
   * @throws IllegalArgumentException the value is of another kind, or a string has half of a
   *     surrogate pair
   */
  public static byte[] write(Object value) {
    JsonWriter writer = new JsonWriter();
    writer.value(value);
    return writer.out.toString().getBytes(StandardCharsets.UTF_8);
  }

  private void value(Object value) {
    if (value == null || value instanceof Boolean) {
      out.append(value);
    } else if (value instanceof Long || value instanceof Integer) {
      out.append(((Number) value).longValue());
    } else if (value instanceof CharSequence) {
      string((CharSequence) value);
    } else if (value instanceof Map) {
      object((Map<?, ?>) value);
    } else if (value instanceof Iterable) {
      array((Iterable<?>) value);
    } else {
      throw new IllegalArgumentException("no JSON for " + value.getClass().getName());
    }
  }

  private void object(Map<?, ?> members) {
    String between = "{";
    for (Map.Entry<?, ?> member : members.entrySet()) {
      out.append(between);
      string((CharSequence) member.getKey());
      out.append(':');
      value(member.getValue());
      between = ",";
    }
    out.append(members.isEmpty() ? "{}" : "}");
  }

  private void array(Iterable<?> items) {
    out.append('[');
    String between = "";
    for (Object item : items) {
      out.append(between);
      value(item);
      between = ",";
    }
    out.append(']');
  }

  private void string(CharSequence text) {
    if (JsonReader.hasHalfPair(text)) {
      throw new IllegalArgumentException("a string has half of a surrogate pair");
    }
    out.append('"');
    for (int place = 0; place < text.length(); place++) {
      char next = text.charAt(place);
      if (next == '"' || next == '\\') {
        out.append('\\').append(next);
      } else if (next < ' ') {
        out.append(String.format("\\u%04x", (int) next));
      } else {
        out.append(next);
      }
    }
    out.append('"');
  }
}
