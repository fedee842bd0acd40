package io.fairlead.rocketmq.spring;

import io.fairlead.client.SettingsException;
import io.fairlead.rocketmq.Options;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;

/** What {@code fairlead.rocketmq.…} says. */
public class FairleadProperties {
  static final String PREFIX = "fairlead.rocketmq";

  private List<String> groups = new ArrayList<>();
  private List<String> gateways = new ArrayList<>();
  private String tokenFile;
  private boolean tokenOverHttp;
  private Integer capacity;
  private String zone;
  private boolean standby;
  private Integer handOverMs;
  private String onOutage = "stop";

  static FairleadProperties of(Environment environment) {
    FairleadProperties found =
        Binder.get(environment).bindOrCreate(PREFIX, FairleadProperties.class);
    if (found.gateways.isEmpty()) {
      throw new SettingsException(
          PREFIX + ".gateways", "is missing", "name the address of a gateway");
    }
    return found;
  }

  boolean names(String group) {
    return groups.contains("*") || groups.contains(group);
  }

  Options options() {
    Options options = Options.gateway(gateways.get(0)).tokenOverHttp(tokenOverHttp);
    gateways.subList(1, gateways.size()).forEach(options::andGateway);
    if (tokenFile != null) {
      options.tokenFile(Paths.get(tokenFile));
    }
    if (capacity != null) {
      options.capacity(capacity);
    }
    if (zone != null) {
      options.zone(zone);
    }
    if (handOverMs != null) {
      options.handOverMs(handOverMs);
    }
    return standby ? options.standby().onOutage(onOutage) : options.onOutage(onOutage);
  }

  /** Sets the groups whose containers are attached; {@code *}: all. */
  public void setGroups(List<String> names) {
    groups = names;
  }

  /** Sets the addresses of gateways. */
  public void setGateways(List<String> addresses) {
    gateways = addresses;
  }

  /** Sets the file with the bearer token. */
  public void setTokenFile(String file) {
    tokenFile = file;
  }

  /** Allows to send the token without TLS. */
  public void setTokenOverHttp(boolean allowed) {
    tokenOverHttp = allowed;
  }

  /** Sets how much each client can do, beside others. */
  public void setCapacity(Integer weight) {
    capacity = weight;
  }

  /** Sets where the clients run. */
  public void setZone(String name) {
    zone = name;
  }

  /** Lets the clients stand by. */
  public void setStandby(boolean wanted) {
    standby = wanted;
  }

  /** Sets how long listeners work on when the context closes, until others are named. */
  public void setHandOverMs(Integer time) {
    handOverMs = time;
  }

  /** Sets what becomes of queues while no gateway answers: {@code stop} or {@code keep}. */
  public void setOnOutage(String word) {
    onOutage = word;
  }
}
