package io.fairlead.client;

import io.fairlead.client.json.JsonReader;
import io.fairlead.client.session.Action;
import io.fairlead.client.session.Epoch;
import io.fairlead.client.session.QueueName;
import io.fairlead.client.session.Subscription;
import io.fairlead.client.session.WorkName;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/** A member that a test drives: it prints what it hears, and does what it reads. */
public final class MemberProbe {
  private MemberProbe() {}

  /** Runs until its input ends. */
  public static void main(String[] arguments) throws Exception {
    MemberSettings settings;
    try {
      settings = Probe.settings((Map<?, ?>) JsonReader.read(arguments[0]));
    } catch (SettingsException error) {
      Probe.say("refused", error.setting, error.getMessage());
      return;
    }
    GatewayMember member = new GatewayMember(settings, MemberProbe::print);
    member.start();
    List<?> command = Probe.command();
    while (!command.isEmpty()) {
      run(member, command);
      command = Probe.command();
    }
  }

  private static void run(GatewayMember member, List<?> command) throws InterruptedException {
    switch ((String) command.get(0)) {
      case "progressed":
        member.progressed(name(command), (Long) command.get(3), (Long) command.get(4));
        break;
      case "stopped":
        member.stopped(name(command), (Long) command.get(3), (Long) command.get(4));
        break;
      case "subscribe":
        List<Subscription> topics = new ArrayList<>();
        for (Object topic : (List<?>) command.get(1)) {
          topics.add(new Subscription((String) topic, Collections.singletonList("A")));
        }
        member.subscribe(topics);
        break;
      case "leave":
        member.leave((Long) command.get(1));
        break;
      case "works":
        Epoch epoch = member.works(queue((Long) command.get(1)));
        Probe.say("works", command.get(1), epoch == null ? null : pair(epoch));
        break;
      case "threads":
        Probe.say("threads", threads());
        break;
      case "refusal":
        RefusedException refusal = member.refusal();
        Probe.say("refusal", refusal == null ? null : refusal.getMessage());
        break;
      case "failure":
        Probe.say("failure", member.lastFailure());
        break;
      case "await":
        boolean closed = member.awaitClosed((Long) command.get(1));
        Probe.say("await", closed, member.closed());
        break;
      default:
        throw new IllegalArgumentException(command.toString());
    }
  }

  private static int threads() {
    int count = 0;
    for (Thread thread : Thread.getAllStackTraces().keySet()) {
      count += thread.getName().equals("fairlead-request") ? 1 : 0;
    }
    return count;
  }

  private static void print(Action action) {
    if (action instanceof Action.StartWork) {
      Action.StartWork start = (Action.StartWork) action;
      Probe.say("start", start.name.queue.id, pair(start.name.epoch), start.offset);
    } else if (action instanceof Action.StopWork) {
      WorkName name = ((Action.StopWork) action).name;
      Probe.say("stop", name.queue.id, pair(name.epoch));
    } else if (action instanceof Action.Abandon) {
      WorkName name = ((Action.Abandon) action).name;
      Probe.say("abandon", name.queue.id, pair(name.epoch));
    } else if (action instanceof Action.StopAll) {
      List<Object> ids = new ArrayList<>();
      for (WorkName name : ((Action.StopAll) action).work) {
        ids.add(name.queue.id);
      }
      Probe.say("stop_all", ((Action.StopAll) action).reason, ids);
    } else {
      Probe.say("close", ((Action.Close) action).reason);
    }
  }

  private static List<Object> pair(Epoch epoch) {
    return Arrays.<Object>asList(epoch.generation, epoch.number);
  }

  private static WorkName name(List<?> command) {
    List<?> epoch = (List<?>) command.get(2);
    return new WorkName(
        queue((Long) command.get(1)), new Epoch((Long) epoch.get(0), (Long) epoch.get(1)));
  }

  private static QueueName queue(Long number) {
    return new QueueName("orders", "main", number.intValue());
  }
}
