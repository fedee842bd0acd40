package io.fairlead.rocketmq;

import io.fairlead.client.MemberSettings;
import java.nio.file.Path;
import javax.net.ssl.SSLContext;

/** How an attached consumer reaches the gateway, and what it says of itself. */
public final class Options {
  final MemberSettings.Builder member = MemberSettings.builder();
  String clientId;
  QueueObserver observer = new QueueObserver() {};

  private Options() {}

  /** Returns options with the address of a gateway. */
  public static Options gateway(String address) {
    return new Options().andGateway(address);
  }

  /** Adds another address: the client goes to the next one if one fails or is silent. */
  public Options andGateway(String address) {
    member.gateway(address);
    return this;
  }

  /** Sets the client id; by default it is RocketMQ's. */
  public Options clientId(String id) {
    clientId = id;
    return this;
  }

  /** Sets who hears what becomes of each queue. */
  public Options observer(QueueObserver hears) {
    observer = hears;
    return this;
  }

  /** Sets how much the client can do, beside others. */
  public Options capacity(int weight) {
    member.capacity(weight);
    return this;
  }

  /** Sets where the client runs. */
  public Options zone(String name) {
    member.zone(name);
    return this;
  }

  /** Sets the file with the bearer token; the client reads it again for each request. */
  public Options tokenFile(Path file) {
    member.tokenFile(file);
    return this;
  }

  /** Allows to send the token without TLS, because something else encrypts the connection. */
  public Options tokenOverHttp(boolean allowed) {
    member.tokenOverHttp(allowed);
    return this;
  }

  /** Sets whom the client trusts, and its own certificate. */
  public Options ssl(SSLContext context) {
    member.ssl(context);
    return this;
  }
}
