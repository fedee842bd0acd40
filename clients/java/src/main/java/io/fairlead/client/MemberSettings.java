package io.fairlead.client;

import io.fairlead.client.session.Subscription;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;

/**
 * What a member of a group says of itself, and how it reaches the gateway. {@link #builder()} makes
 * one; {@code build} refuses what cannot work and names the setting and the remedy.
 */
public final class MemberSettings {
  private static final Pattern GROUP = Pattern.compile("[A-Za-z0-9_%|.\\-]{1,120}");
  private static final Pattern TOPIC = Pattern.compile("[A-Za-z0-9_%|.\\-]{1,249}");
  private static final Pattern PRINTABLE = Pattern.compile("[!-~]{1,255}");
  private static final List<String> STARTS =
      Arrays.asList("last_offset", "first_offset", "timestamp");
  private static final int CAPACITY_MAX = 1_000;

  final List<URI> gateways;
  final String group;
  final String clientId;
  final List<Subscription> topics;
  final String consumeFrom;
  final Long consumeTimestampMs;
  final int capacity;
  final String zone;
  final boolean ordered;
  final DataPlane plane;
  final Path tokenFile;
  final SSLContext ssl;
  final int connectTimeoutMs;
  final int handOverMs;

  private MemberSettings(Builder from) {
    gateways = Collections.unmodifiableList(addresses(from.gateways));
    group = from.group;
    clientId = from.clientId != null ? from.clientId : "java-" + UUID.randomUUID();
    topics = Collections.unmodifiableList(new ArrayList<>(from.topics));
    consumeFrom = from.consumeFrom;
    consumeTimestampMs = from.consumeTimestampMs;
    capacity = from.capacity;
    zone = from.zone;
    ordered = from.ordered;
    plane = new DataPlane(from.dataPlane, from.planeMember, from.follows);
    tokenFile = from.tokenFile;
    ssl = from.ssl;
    connectTimeoutMs = from.connectTimeoutMs;
    handOverMs = from.handOverMs;
    check(from.tokenOverHttp);
  }

  /** Returns a builder without settings. */
  public static Builder builder() {
    return new Builder();
  }

  /** Returns the group. */
  public String group() {
    return group;
  }

  /** Returns the client id. */
  public String clientId() {
    return clientId;
  }

  /** Returns what the client reads from the start on. */
  public List<Subscription> topics() {
    return topics;
  }

  /** Returns the gateway's addresses. */
  public List<URI> gateways() {
    return gateways;
  }

  /** Returns where a queue begins that nobody of the group has read. */
  public String consumeFrom() {
    return consumeFrom;
  }

  /** Returns the time for {@code consumeFrom("timestamp")}, in ms since 1970; null if none. */
  public Long consumeTimestampMs() {
    return consumeTimestampMs;
  }

  /** Returns how much the client can do, beside others. */
  public int capacity() {
    return capacity;
  }

  /** Returns where the client runs; null if nobody said. */
  public String zone() {
    return zone;
  }

  /** Returns whether the client wants its messages in order. */
  public boolean ordered() {
    return ordered;
  }

  /** Returns where the client reads, "kafka" or "rocketmq"; null if nobody said. */
  public String dataPlane() {
    return plane.kind;
  }

  /** Returns the id under which the data plane lists the client; null if nobody said. */
  public String planeMember() {
    return plane.member;
  }

  /** Returns the strategy that the client can follow; null if it cannot stand by. */
  public String follows() {
    return plane.follows;
  }

  /** Returns the file with the bearer token; null if there is none. */
  public Path tokenFile() {
    return tokenFile;
  }

  /** Returns whom the client trusts, and how it shows who it is; null for Java's own. */
  public SSLContext ssl() {
    return ssl;
  }

  /** Returns how long a connection may take. */
  public int connectTimeoutMs() {
    return connectTimeoutMs;
  }

  /** Returns how long the client works on while it leaves, until others are named. */
  public int handOverMs() {
    return handOverMs;
  }

  private void check(boolean tokenOverHttp) {
    if (group == null || !GROUP.matcher(group).matches()) {
      throw wrong("group", group, "give 1-120 characters of A-Za-z0-9_%|.-");
    }
    if (!PRINTABLE.matcher(clientId).matches()) {
      throw wrong(
          "clientId",
          clientId,
          "give 1-255 printable ASCII characters without space, unique per process");
    }
    checkTopics(topics);
    if (!STARTS.contains(consumeFrom)) {
      throw wrong("consumeFrom", consumeFrom, "give one of " + STARTS);
    }
    if (consumeTimestampMs != null && !consumeFrom.equals("timestamp")) {
      throw wrong(
          "consumeTimestampMs",
          consumeTimestampMs,
          "give it with consumeFrom(\"timestamp\"), and only then");
    }
    if (capacity < 1 || capacity > CAPACITY_MAX) {
      throw wrong("capacity", capacity, "give 1 to " + CAPACITY_MAX);
    }
    if (zone != null && !PRINTABLE.matcher(zone).matches()) {
      throw wrong("zone", zone, "give 1-255 printable ASCII characters without space");
    }
    if (connectTimeoutMs < 1) {
      throw wrong("connectTimeoutMs", connectTimeoutMs, "give 1 or more");
    }
    if (handOverMs < 0) {
      throw wrong("handOverMs", handOverMs, "give 0 or more; 0 stops at once");
    }
    for (URI gateway : gateways) {
      boolean plain = gateway.getScheme().equals("http") && !isHere(gateway.getHost());
      if (plain && tokenFile != null && !tokenOverHttp) {
        throw new SettingsException(
            "gateway",
            gateway + " would carry the token in clear text",
            "use https, or say tokenOverHttp(true) if something else encrypts the connection");
      }
    }
  }

  static void checkTopics(Collection<Subscription> topics) {
    if (topics.isEmpty()) {
      throw new SettingsException("topics", "names no topic", "give at least one");
    }
    Set<String> seen = new HashSet<>();
    for (Subscription each : topics) {
      if (!TOPIC.matcher(each.topic).matches()) {
        throw wrong("topics", each.topic, "give 1-249 characters of A-Za-z0-9_%|.-");
      }
      if (!seen.add(each.topic)) {
        throw new SettingsException(
            "topics", each.topic + " is named twice", "name each topic once, with all its tags");
      }
    }
  }

  private static List<URI> addresses(List<String> given) {
    if (given.isEmpty()) {
      throw new SettingsException(
          "gateway", "names no address", "give gateway(\"https://gateway.example:8080\")");
    }
    List<URI> result = new ArrayList<>();
    for (String each : given) {
      result.add(address(each));
    }
    return result;
  }

  private static URI address(String given) {
    String remedy = "give http:// or https://, a host, and a port if it is not the usual one";
    URI uri;
    try {
      uri = new URI(given == null ? "" : given.trim());
    } catch (URISyntaxException error) {
      throw wrong("gateway", given, remedy);
    }
    String scheme = uri.getScheme() == null ? "" : uri.getScheme().toLowerCase(Locale.ROOT);
    if (!scheme.equals("http") && !scheme.equals("https") || uri.getHost() == null) {
      throw wrong("gateway", given, remedy);
    }
    if (uri.getRawUserInfo() != null || uri.getRawQuery() != null || uri.getFragment() != null) {
      throw new SettingsException(
          "gateway",
          "has a user, a query or a fragment",
          "give scheme, host, port and path alone; a token belongs in tokenFile");
    }
    String path = uri.getRawPath() == null ? "" : uri.getRawPath().replaceAll("/+$", "");
    return URI.create(scheme + "://" + uri.getRawAuthority() + path);
  }

  private static boolean isHere(String host) {
    return host.equals("localhost") || host.equals("[::1]") || host.startsWith("127.");
  }

  private static SettingsException wrong(String setting, Object value, String remedy) {
    String problem = value == null ? "is not given" : "'" + value + "' cannot be used";
    return new SettingsException(setting, problem, remedy);
  }

  /** Collects settings. */
  public static final class Builder {
    private final List<String> gateways = new ArrayList<>();
    private String group;
    private String clientId;
    private final List<Subscription> topics = new ArrayList<>();
    private String consumeFrom = "last_offset";
    private Long consumeTimestampMs;
    private int capacity = 1;
    private String zone;
    private boolean ordered;
    private String dataPlane;
    private String planeMember;
    private String follows;
    private Path tokenFile;
    private boolean tokenOverHttp;
    private SSLContext ssl;
    private int connectTimeoutMs = 3_000;
    private int handOverMs = 3_000;

    private Builder() {}

    /** Adds an address of the gateway; with several ones the client uses the next if one fails. */
    public Builder gateway(String address) {
      gateways.add(address);
      return this;
    }

    /** Sets the group. */
    public Builder group(String name) {
      group = name;
      return this;
    }

    /** Sets the client id; by default the client makes one. */
    public Builder clientId(String id) {
      clientId = id;
      return this;
    }

    /** Adds topics. */
    public Builder topics(String... names) {
      for (String name : names) {
        topics.add(new Subscription(name));
      }
      return this;
    }

    /** Adds a topic with tags. */
    public Builder topic(Subscription topic) {
      topics.add(topic);
      return this;
    }

    /** Sets where a queue begins that nobody of the group has read. */
    public Builder consumeFrom(String word) {
      consumeFrom = word;
      return this;
    }

    /** Sets the time to begin at, in ms since 1970, for {@code consumeFrom("timestamp")}. */
    public Builder consumeTimestampMs(long time) {
      consumeTimestampMs = time;
      return this;
    }

    /** Sets how much the client can do, beside others. */
    public Builder capacity(int weight) {
      capacity = weight;
      return this;
    }

    /** Sets where the client runs. */
    public Builder zone(String name) {
      zone = name;
      return this;
    }

    /** Sets whether the client wants its messages in order. */
    public Builder ordered(boolean wanted) {
      ordered = wanted;
      return this;
    }

    /**
     * Says where the client reads, "kafka" or "rocketmq", and under which id its cluster lists it.
     */
    public Builder dataPlane(String kind, String member) {
      dataPlane = kind;
      planeMember = member;
      return this;
    }

    /** Lets the client stand by: it can follow this strategy, such as "AVG", of its data plane. */
    public Builder standby(String strategy) {
      follows = strategy;
      return this;
    }

    /** Sets the file with the bearer token; the client reads it again for each request. */
    public Builder tokenFile(Path file) {
      tokenFile = file;
      return this;
    }

    /** Allows to send the token without TLS, because something else encrypts the connection. */
    public Builder tokenOverHttp(boolean allowed) {
      tokenOverHttp = allowed;
      return this;
    }

    /** Sets whom the client trusts, and its own certificate. */
    public Builder ssl(SSLContext context) {
      ssl = context;
      return this;
    }

    /** Sets how long a connection may take. */
    public Builder connectTimeoutMs(int time) {
      connectTimeoutMs = time;
      return this;
    }

    /** Sets how long the client works on while it leaves, until others are named; 0: not at all. */
    public Builder handOverMs(int time) {
      handOverMs = time;
      return this;
    }

    /**
     * Returns the settings.
     *
     * @throws SettingsException a setting cannot work
     */
    public MemberSettings build() {
      return new MemberSettings(this);
    }
  }
}
