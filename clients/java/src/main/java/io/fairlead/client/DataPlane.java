package io.fairlead.client;

import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;

/** Where a member reads its messages, as it says when it joins. */
final class DataPlane {
  private static final Pattern MEMBER = Pattern.compile("[!-~]{1,255}");
  private static final Pattern STRATEGY = Pattern.compile("[A-Z][A-Z0-9_]{0,63}");
  private static final List<String> KINDS = Arrays.asList("kafka", "rocketmq");

  final String kind;
  final String member;
  final String follows;

  /**
   * Describes it.
   *
   * @param kind "kafka" or "rocketmq"; null if nobody said
   * @param member the id under which its cluster lists the client
   * @param follows the strategy of it that the client can follow; null if it cannot stand by
   * @throws SettingsException one of them cannot work
   */
  DataPlane(String kind, String member, String follows) {
    this.kind = kind;
    this.member = member;
    this.follows = follows;
    if (kind != null && !KINDS.contains(kind)) {
      throw wrong("dataPlane", kind, "give one of " + KINDS);
    }
    if (kind != null && (member == null || !MEMBER.matcher(member).matches())) {
      String remedy = "give the id under which its cluster lists the client, without spaces";
      throw wrong("dataPlane", member, remedy);
    }
    if (follows != null && !STRATEGY.matcher(follows).matches()) {
      throw wrong("standby", follows, "give the strategy's name, such as AVG");
    }
    if (follows != null && !"rocketmq".equals(kind)) {
      String remedy = "give dataPlane(\"rocketmq\", id) as well";
      throw new SettingsException("standby", "has no cluster that lists its members", remedy);
    }
  }

  private static SettingsException wrong(String setting, Object value, String remedy) {
    String problem = value == null ? "is not given" : "'" + value + "' cannot be used";
    return new SettingsException(setting, problem, remedy);
  }
}
