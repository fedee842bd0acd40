package io.fairlead.client;

import io.fairlead.client.json.JsonReader;
import io.fairlead.client.json.JsonWriter;
import io.fairlead.client.session.Action;
import io.fairlead.client.session.Epoch;
import io.fairlead.client.session.Joined;
import io.fairlead.client.session.Poll;
import io.fairlead.client.session.PollAnswer;
import io.fairlead.client.session.QueueName;
import io.fairlead.client.session.Standing;
import io.fairlead.client.session.Subscription;
import io.fairlead.client.session.ThinSession;
import io.fairlead.client.session.Work;
import io.fairlead.client.session.WorkName;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Replays the shared vectors: each event has to have the actions, lease and works of the file. */
public final class VectorRunner {
  private static final int QUEUES = 4;

  private VectorRunner() {}

  /** Replays the file; prints how many steps there were, or fails at the first one that differs. */
  public static void main(String[] arguments) throws Exception {
    Map<?, ?> document = (Map<?, ?>) JsonReader.read(Files.readAllBytes(Paths.get(arguments[0])));
    int vectors = 0;
    int steps = 0;
    for (String kind : Arrays.asList("vectors", "standby_vectors")) {
      for (Object vector : (List<?>) document.get(kind)) {
        ThinSession session = new ThinSession(kind.equals("standby_vectors"));
        for (Object each : (List<?>) vector) {
          compare(vectors, session, (List<?>) each, kind.equals("standby_vectors"));
          steps++;
        }
        vectors++;
      }
    }
    System.out.println(vectors + " vectors, " + steps + " steps");
  }

  private static void compare(
      int vector, ThinSession session, List<?> step, boolean standsBy) {
    List<Object> done = new ArrayList<>(replayed(session, step));
    if (standsBy) {
      done.add(session.standing().name().toLowerCase(Locale.ROOT));
      done.add(session.follows((Long) step.get(0)));
    }
    String wanted = text(step);
    String found = text(done);
    if (!wanted.equals(found)) {
      System.out.println("vector " + vector + "\nwanted " + wanted + "\nfound  " + found);
      System.exit(1);
    }
  }

  private static String text(Object value) {
    return new String(JsonWriter.write(value), java.nio.charset.StandardCharsets.UTF_8);
  }

  private static List<Object> replayed(ThinSession session, List<?> step) {
    long nowMs = (Long) step.get(0);
    List<?> event = (List<?>) step.get(1);
    List<Object> actions = new ArrayList<>();
    for (Action action : told(session, event, nowMs)) {
      actions.add(row(action));
    }
    List<Object> works = new ArrayList<>();
    for (int number = 0; number < QUEUES; number++) {
      Epoch epoch = session.works(queue((long) number), nowMs);
      if (epoch != null) {
        works.add(Arrays.asList((long) number, pair(epoch)));
      }
    }
    String state = session.state().name().toLowerCase(Locale.ROOT);
    return Arrays.asList(
        nowMs, event, actions, state, session.leaseUntilMs(), session.nextDeadlineMs(), works);
  }

  private static List<Action> told(ThinSession session, List<?> event, long nowMs) {
    switch ((String) event.get(0)) {
      case "passed":
        return session.passed(nowMs);
      case "joined":
        return session.joined((Long) event.get(1), joined((Map<?, ?>) event.get(2)), nowMs);
      case "answered":
        return session.answered((Long) event.get(1), answer((Map<?, ?>) event.get(2)), nowMs);
      case "failed":
        return session.failed((Long) event.get(1), nowMs);
      case "lost":
        return session.lost((Long) event.get(1), (String) event.get(2), nowMs);
      case "left":
        return session.left(nowMs);
      case "progressed":
        return session.progressed(
            name(event, 1), (Long) event.get(3), (Long) event.get(4), nowMs);
      case "stopped":
        return session.stopped(name(event, 1), (Long) event.get(3), (Long) event.get(4), nowMs);
      case "subscribe":
        List<Subscription> topics = new ArrayList<>();
        for (Object topic : (List<?>) event.get(1)) {
          topics.add(new Subscription((String) topic));
        }
        return session.subscribe(topics, nowMs);
      case "leave":
        return session.leave(nowMs, (Long) event.get(1));
      case "frozen":
        Map<QueueName, Long> held = new LinkedHashMap<>();
        for (Object each : (List<?>) event.get(2)) {
          held.put(queue((Long) ((List<?>) each).get(0)), (Long) ((List<?>) each).get(1));
        }
        return session.frozen(epoch((List<?>) event.get(1)), held, nowMs);
      case "unfollowed":
        return session.unfollowed(nowMs);
      default:
        throw new IllegalArgumentException(event.toString());
    }
  }

  private static Joined joined(Map<?, ?> values) {
    return new Joined(
        (String) values.get("session"),
        (String) values.get("state"),
        (Long) values.get("lease_ms"),
        (Long) values.get("poll_ms"));
  }

  private static PollAnswer answer(Map<?, ?> values) {
    List<PollAnswer.Start> start = new ArrayList<>();
    for (Object each : (List<?>) values.get("start")) {
      List<?> row = (List<?>) each;
      boolean former = row.size() > 3 && (Boolean) row.get(3);
      start.add(new PollAnswer.Start(name(row, 0), (Long) row.get(2), former));
    }
    List<PollAnswer.Stop> stop = new ArrayList<>();
    for (Object each : (List<?>) values.get("stop")) {
      stop.add(new PollAnswer.Stop(name((List<?>) each, 0), (Long) ((List<?>) each).get(2)));
    }
    List<WorkName> working = new ArrayList<>();
    for (Object each : (List<?>) values.get("working")) {
      working.add(name((List<?>) each, 0));
    }
    long leaseMs = (Long) values.get("lease_ms");
    String told = (String) values.get("standby");
    Standing standing =
        told == null ? Standing.OWN : Standing.valueOf(told.toUpperCase(Locale.ROOT));
    List<?> freeze = (List<?>) values.get("freeze");
    return new PollAnswer(
        (String) values.get("state"),
        leaseMs,
        start,
        stop,
        working,
        standing,
        freeze == null ? null : epoch(freeze));
  }

  private static List<Object> row(Action action) {
    if (action instanceof Action.SendJoin) {
      return Arrays.<Object>asList("send_join", ((Action.SendJoin) action).number);
    } else if (action instanceof Action.SendPoll) {
      return Arrays.asList("send_poll", poll(((Action.SendPoll) action).poll));
    } else if (action instanceof Action.SendLeave) {
      return Arrays.asList("send_leave", poll(((Action.SendLeave) action).poll));
    } else if (action instanceof Action.StartWork) {
      Action.StartWork start = (Action.StartWork) action;
      return start.former
          ? with("start_work", start.name, start.offset, true)
          : with("start_work", start.name, start.offset);
    } else if (action instanceof Action.StopWork) {
      return with("stop_work", ((Action.StopWork) action).name);
    } else if (action instanceof Action.Abandon) {
      return with("abandon", ((Action.Abandon) action).name);
    } else if (action instanceof Action.StopAll) {
      List<Object> works = new ArrayList<>();
      for (WorkName name : ((Action.StopAll) action).work) {
        works.add(Arrays.asList((long) name.queue.id, pair(name.epoch)));
      }
      return Arrays.asList("stop_all", ((Action.StopAll) action).reason, works);
    } else if (action instanceof Action.Follow) {
      return Arrays.<Object>asList("follow");
    } else if (action instanceof Action.Freeze) {
      return Arrays.<Object>asList("freeze", pair(((Action.Freeze) action).epoch));
    } else if (action instanceof Action.StopFollowing) {
      return Arrays.<Object>asList("stop_following");
    }
    return Arrays.<Object>asList("close", ((Action.Close) action).reason);
  }

  private static List<Object> with(String kind, WorkName name, Object... more) {
    List<Object> row = new ArrayList<>(Arrays.asList(kind, (long) name.queue.id, pair(name.epoch)));
    Collections.addAll(row, more);
    return row;
  }

  private static Map<String, Object> poll(Poll poll) {
    Map<String, Object> body = new LinkedHashMap<>();
    body.put("session", poll.session);
    body.put("state", poll.state);
    body.put("sequence", poll.sequence);
    body.put("wait_ms", poll.waitMs);
    body.put("working", works(poll.working));
    body.put("stopped", works(poll.stopped));
    List<Object> topics = null;
    if (poll.topics != null) {
      topics = new ArrayList<>();
      for (Subscription each : poll.topics) {
        topics.add(each.topic);
      }
    }
    body.put("topics", topics);
    body.put("leaving", poll.leaving);
    if (poll.standing != null) {
      body.put("standby", poll.standing.name().toLowerCase(Locale.ROOT));
    }
    if (poll.frozen != null) {
      List<Object> queues = new ArrayList<>();
      for (Map.Entry<QueueName, Long> each : poll.frozen.queues.entrySet()) {
        queues.add(Arrays.<Object>asList((long) each.getKey().id, each.getValue()));
      }
      body.put("frozen", Arrays.<Object>asList(pair(poll.frozen.epoch), queues));
    }
    return body;
  }

  private static List<Object> works(List<Work> works) {
    List<Object> rows = new ArrayList<>();
    for (Work work : works) {
      rows.add(Arrays.asList((long) work.queue.id, pair(work.epoch), work.position, work.end));
    }
    return rows;
  }

  private static List<Object> pair(Epoch epoch) {
    return Arrays.<Object>asList(epoch.generation, epoch.number);
  }

  private static WorkName name(List<?> row, int at) {
    return new WorkName(queue((Long) row.get(at)), epoch((List<?>) row.get(at + 1)));
  }

  private static Epoch epoch(List<?> pair) {
    return new Epoch((Long) pair.get(0), (Long) pair.get(1));
  }

  private static QueueName queue(Long number) {
    return new QueueName("orders", "main", number.intValue());
  }
}
