package io.fairlead.rocketmq;

import io.fairlead.client.MemberSettings;
import io.fairlead.client.SettingsException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import javax.net.ssl.SSLContext;

/** How an attached consumer reaches the gateway, and what it says of itself. */
public final class Options {
  String clientId;
  QueueObserver observer = new QueueObserver() {};
  boolean keeps;
  boolean standsBy;
  private final List<Consumer<MemberSettings.Builder>> words = new ArrayList<>();

  private Options() {}

  /** Returns options with the address of a gateway. */
  public static Options gateway(String address) {
    return new Options().andGateway(address);
  }

  /** Adds another address: the client goes to the next one if one fails or is silent. */
  public Options andGateway(String address) {
    return with(member -> member.gateway(address));
  }

  /** Sets the client id; by default it is RocketMQ's. */
  public Options clientId(String id) {
    clientId = id;
    return this;
  }

  /** Sets who hears what becomes of each queue. */
  public Options observer(QueueObserver hears) {
    observer = new QuietObserver(hears);
    return this;
  }

  /**
   * Sets what becomes of the queues that the consumer has while no gateway answers for longer than
   * its lease. {@code stop}, the default: nothing is consumed until one answers again. {@code keep}:
   * it goes on, and another member may read the same queues meanwhile.
   *
   * @throws SettingsException it is another word
   */
  public Options onOutage(String word) {
    if (!word.equals("stop") && !word.equals("keep")) {
      throw new SettingsException("onOutage", "is '" + word + "'", "give stop or keep");
    }
    keeps = word.equals("keep");
    return this;
  }

  /**
   * Lets the consumer stand by: it follows the strategy that it has had until the whole group is
   * attached. Then the group is taken over, and nobody stops.
   */
  public Options standby() {
    standsBy = true;
    return this;
  }

  /** Sets how much the client can do, beside others. */
  public Options capacity(int weight) {
    return with(member -> member.capacity(weight));
  }

  /**
   * Sets how long the listeners of a consumer that closes work on, until the engine has named who
   * goes on; by default 3,000 ms. With 0 they stop at once, and the queues wait for its decision.
   */
  public Options handOverMs(int time) {
    return with(member -> member.handOverMs(time));
  }

  /** Sets where the client runs. */
  public Options zone(String name) {
    return with(member -> member.zone(name));
  }

  /** Sets the file with the bearer token; the client reads it again for each request. */
  public Options tokenFile(Path file) {
    return with(member -> member.tokenFile(file));
  }

  /** Allows to send the token without TLS, because something else encrypts the connection. */
  public Options tokenOverHttp(boolean allowed) {
    return with(member -> member.tokenOverHttp(allowed));
  }

  /** Sets whom the client trusts, and its own certificate. */
  public Options ssl(SSLContext context) {
    return with(member -> member.ssl(context));
  }

  /** Returns a builder to which all of it was said, and where the member reads. */
  MemberSettings.Builder member(String clientId, String strategy) {
    MemberSettings.Builder member = MemberSettings.builder().dataPlane("rocketmq", clientId);
    words.forEach(word -> word.accept(member));
    if (standsBy) {
      member.standby(strategy);
    }
    return member;
  }

  private Options with(Consumer<MemberSettings.Builder> word) {
    words.add(word);
    return this;
  }
}
