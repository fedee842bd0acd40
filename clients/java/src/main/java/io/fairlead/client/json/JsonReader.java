package io.fairlead.client.json;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads one JSON text (RFC 8259) into maps, lists, strings, numbers, booleans and null.
 *
 * <p>It is strict: one value and nothing behind it, no name twice in an object, no control
 * character in a string, no half of a surrogate pair, no bytes that are not UTF-8. It is bounded:
 * values nest at most {@link #DEPTH_MAX} deep, and a number has at most {@link #DIGITS_MAX}
 * characters. Whole numbers become {@link Long}, and one that does not fit is refused; others become
 * {@link Double}. How long a text may be is for the caller to say.
 */
public final class JsonReader {
  /** How deep objects and arrays may nest. */
  public static final int DEPTH_MAX = 32;

  /** How many characters a number may have. */
  public static final int DIGITS_MAX = 64;

  private final String text;
  private int at;

  private JsonReader(String text) {
    this.text = text;
  }

  /**
   * Returns the value of a text in UTF-8.
   *
   * @throws JsonException the bytes are no such text
   */
  public static Object read(byte[] bytes) throws JsonException {
    try {
      return read(
          StandardCharsets.UTF_8
              .newDecoder()
              .onMalformedInput(CodingErrorAction.REPORT)
              .onUnmappableCharacter(CodingErrorAction.REPORT)
              .decode(ByteBuffer.wrap(bytes))
              .toString());
    } catch (CharacterCodingException error) {
      throw new JsonException("it is not UTF-8");
    }
  }

  /**
   * Returns the value of a text.
   *
   * @throws JsonException the text is no JSON, or none that is accepted here
   */
  public static Object read(String text) throws JsonException {
    JsonReader reader = new JsonReader(text);
    reader.skipSpace();
    Object value = reader.value(0);
    reader.skipSpace();
    if (reader.at < text.length()) {
      throw reader.fault("nothing may follow the value");
    }
    return value;
  }

  private Object value(int depth) throws JsonException {
    char first = peek();
    switch (first) {
      case '{':
        return object(depth + 1);
      case '[':
        return array(depth + 1);
      case '"':
        return string();
      case 't':
        return word("true", Boolean.TRUE);
      case 'f':
        return word("false", Boolean.FALSE);
      case 'n':
        return word("null", null);
      default:
        return number();
    }
  }

  private Map<String, Object> object(int depth) throws JsonException {
    enter(depth);
    Map<String, Object> members = new LinkedHashMap<>();
    skipSpace();
    if (peek() == '}') {
      at++;
      return members;
    }
    while (true) {
      if (peek() != '"') {
        throw fault("a name in quotes is missing");
      }
      String name = string();
      skipSpace();
      take(':');
      skipSpace();
      Object value = value(depth);
      if (members.containsKey(name)) {
        throw fault("the object has a name twice");
      }
      members.put(name, value);
      if (isLast('}')) {
        return members;
      }
    }
  }

  private List<Object> array(int depth) throws JsonException {
    enter(depth);
    List<Object> items = new ArrayList<>();
    skipSpace();
    if (peek() == ']') {
      at++;
      return items;
    }
    while (true) {
      items.add(value(depth));
      if (isLast(']')) {
        return items;
      }
    }
  }

  private void enter(int depth) throws JsonException {
    if (depth > DEPTH_MAX) {
      throw fault("values nest deeper than " + DEPTH_MAX);
    }
    at++;
  }

  /** Takes what follows an item, and says whether it was the last one. */
  private boolean isLast(char end) throws JsonException {
    skipSpace();
    if (peek() == end) {
      at++;
      return true;
    }
    take(',');
    skipSpace();
    return false;
  }

  private String string() throws JsonException {
    int begin = ++at;
    StringBuilder result = new StringBuilder();
    while (peek() != '"') {
      char next = text.charAt(at);
      if (next < ' ') {
        throw fault("a string has a control character");
      }
      at++;
      result.append(next == '\\' ? escaped() : next);
    }
    at++;
    if (hasHalfPair(result)) {
      at = begin;
      throw fault("a string has half of a surrogate pair");
    }
    return result.toString();
  }

  private char escaped() throws JsonException {
    char kind = peek();
    at++;
    switch (kind) {
      case '"':
      case '\\':
      case '/':
        return kind;
      case 'b':
        return '\b';
      case 'f':
        return '\f';
      case 'n':
        return '\n';
      case 'r':
        return '\r';
      case 't':
        return '\t';
      case 'u':
        return hexadecimal();
      default:
        at--;
        throw fault("a string has an unknown escape");
    }
  }

  private char hexadecimal() throws JsonException {
    int code = 0;
    for (int digit = 0; digit < 4; digit++) {
      char next = peek();
      int value = next < 128 ? Character.digit(next, 16) : -1;
      if (value < 0) {
        throw fault("an escape needs four hexadecimal digits");
      }
      code = code * 16 + value;
      at++;
    }
    return (char) code;
  }

  /** Returns whether a text has half of a surrogate pair. */
  static boolean hasHalfPair(CharSequence value) {
    for (int place = 0; place < value.length(); place++) {
      char next = value.charAt(place);
      if (Character.isHighSurrogate(next)
          && place + 1 < value.length()
          && Character.isLowSurrogate(value.charAt(place + 1))) {
        place++;
      } else if (Character.isSurrogate(next)) {
        return true;
      }
    }
    return false;
  }

  private Object number() throws JsonException {
    int begin = at;
    if (at < text.length() && text.charAt(at) == '-') {
      at++;
    }
    if (at < text.length() && text.charAt(at) == '0') {
      at++;
    } else {
      digits();
    }
    boolean isWhole = true;
    if (at < text.length() && text.charAt(at) == '.') {
      at++;
      digits();
      isWhole = false;
    }
    if (at < text.length() && (text.charAt(at) == 'e' || text.charAt(at) == 'E')) {
      at++;
      if (at < text.length() && (text.charAt(at) == '+' || text.charAt(at) == '-')) {
        at++;
      }
      digits();
      isWhole = false;
    }
    if (at - begin > DIGITS_MAX) {
      throw fault("a number is longer than " + DIGITS_MAX + " characters");
    }
    return converted(text.substring(begin, at), isWhole);
  }

  private Object converted(String written, boolean isWhole) throws JsonException {
    if (isWhole) {
      try {
        return Long.valueOf(written);
      } catch (NumberFormatException error) {
        throw fault("a whole number does not fit 64 bits");
      }
    }
    double value = Double.parseDouble(written);
    if (Double.isInfinite(value)) {
      throw fault("a number is too large");
    }
    return value;
  }

  private void digits() throws JsonException {
    int begin = at;
    while (at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9') {
      at++;
    }
    if (at == begin) {
      throw fault("a value is missing");
    }
  }

  private Object word(String word, Object value) throws JsonException {
    if (!text.startsWith(word, at)) {
      throw fault("a value is missing");
    }
    at += word.length();
    return value;
  }

  private void take(char wanted) throws JsonException {
    if (peek() != wanted) {
      throw fault("'" + wanted + "' is missing");
    }
    at++;
  }

  private char peek() throws JsonException {
    if (at >= text.length()) {
      throw fault("the text ends too early");
    }
    return text.charAt(at);
  }

  private void skipSpace() {
    while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
  }

  private JsonException fault(String what) {
    return new JsonException(what + " (character " + at + ")");
  }
}
