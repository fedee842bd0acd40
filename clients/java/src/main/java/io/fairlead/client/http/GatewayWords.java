package io.fairlead.client.http;

import io.fairlead.client.MemberSettings;
import io.fairlead.client.json.JsonException;
import io.fairlead.client.json.JsonReader;
import io.fairlead.client.json.JsonWriter;
import io.fairlead.client.session.Epoch;
import io.fairlead.client.session.Frozen;
import io.fairlead.client.session.Joined;
import io.fairlead.client.session.Poll;
import io.fairlead.client.session.PollAnswer;
import io.fairlead.client.session.QueueName;
import io.fairlead.client.session.Standing;
import io.fairlead.client.session.Subscription;
import io.fairlead.client.session.Work;
import io.fairlead.client.session.WorkName;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The bodies of requests and answers. Fields of an answer that it does not know are left alone. */
final class GatewayWords {
  private static final long MS_MAX = 86_400_000;

  private GatewayWords() {}

  static byte[] join(
      MemberSettings settings,
      ClientProcess process,
      int joins,
      Collection<Subscription> topics) {
    Map<String, Object> body = new LinkedHashMap<>();
    body.put("client_id", settings.clientId());
    body.put("process", process(process, joins));
    body.put("topics", topics(topics));
    body.put("consume_from", settings.consumeFrom());
    if (settings.consumeTimestampMs() != null) {
      body.put("consume_timestamp_ms", settings.consumeTimestampMs());
    }
    body.put("capacity", settings.capacity());
    if (settings.zone() != null) {
      body.put("zone", settings.zone());
    }
    body.put("ordered", settings.ordered());
    if (settings.dataPlane() != null) {
      Map<String, Object> plane = new LinkedHashMap<>();
      plane.put("kind", settings.dataPlane());
      plane.put("member", settings.planeMember());
      body.put("data_plane", plane);
    }
    if (settings.follows() != null) {
      body.put("standby", Collections.singletonMap("follows", settings.follows()));
    }
    body.put("language", "java");
    return JsonWriter.write(body);
  }

  private static Map<String, Object> process(ClientProcess process, int joins) {
    Map<String, Object> body = new LinkedHashMap<>();
    body.put("start_ms", process.startMs);
    body.put("uuid", process.uuid);
    body.put("joins", joins);
    return body;
  }

  static byte[] poll(Poll poll) {
    Map<String, Object> body = lastWords(poll);
    body.put("wait_ms", poll.waitMs);
    body.put("working", works(poll.working));
    if (poll.topics != null) {
      body.put("topics", topics(poll.topics));
    }
    if (poll.leaving) {
      body.put("leaving", true);
    }
    if (poll.standing != null) {
      body.put("standby", poll.standing.name().toLowerCase(Locale.ROOT));
    }
    if (poll.frozen != null) {
      body.put("frozen", frozen(poll.frozen));
    }
    return JsonWriter.write(body);
  }

  static byte[] leave(Poll poll) {
    return JsonWriter.write(lastWords(poll));
  }

  private static Map<String, Object> lastWords(Poll poll) {
    Map<String, Object> body = new LinkedHashMap<>();
    body.put("state", poll.state);
    body.put("sequence", poll.sequence);
    body.put("stopped", works(poll.stopped));
    return body;
  }

  private static List<Object> works(List<Work> works) {
    List<Object> result = new ArrayList<>();
    for (Work work : works) {
      Map<String, Object> body = new LinkedHashMap<>();
      body.put("queue", queue(work.queue));
      body.put("epoch", Arrays.asList(work.epoch.generation, work.epoch.number));
      body.put("position", work.position);
      if (work.end != null) {
        body.put("end", work.end);
      }
      result.add(body);
    }
    return result;
  }

  private static Map<String, Object> frozen(Frozen frozen) {
    List<Object> queues = new ArrayList<>();
    for (Map.Entry<QueueName, Long> each : frozen.queues.entrySet()) {
      Map<String, Object> item = new LinkedHashMap<>();
      item.put("queue", queue(each.getKey()));
      item.put("position", each.getValue());
      queues.add(item);
    }
    Map<String, Object> body = new LinkedHashMap<>();
    body.put("epoch", Arrays.asList(frozen.epoch.generation, frozen.epoch.number));
    body.put("queues", queues);
    return body;
  }

  private static List<Object> queue(QueueName queue) {
    return Arrays.<Object>asList(queue.topic, queue.brokerName, queue.id);
  }

  private static List<Object> topics(Collection<Subscription> topics) {
    List<Object> result = new ArrayList<>();
    for (Subscription each : topics) {
      Map<String, Object> body = new LinkedHashMap<>();
      body.put("topic", each.topic);
      body.put("tags", each.tags.isEmpty() ? Collections.singletonList("*") : each.tags);
      result.add(body);
    }
    return result;
  }

  static Joined joined(byte[] bytes) throws JsonException {
    Map<?, ?> body = object(JsonReader.read(bytes), "the answer");
    return new Joined(
        text(body, "session"),
        text(body, "state"),
        number(body, "lease_ms", 0, MS_MAX),
        number(body, "poll_ms", 1, MS_MAX));
  }

  static PollAnswer answer(byte[] bytes) throws JsonException {
    Map<?, ?> body = object(JsonReader.read(bytes), "the answer");
    List<PollAnswer.Start> start = new ArrayList<>();
    for (Object each : list(body, "start")) {
      Map<?, ?> item = object(each, "start");
      long offset = number(item, "offset", 0, Long.MAX_VALUE);
      start.add(new PollAnswer.Start(name(item), offset, Boolean.TRUE.equals(item.get("former"))));
    }
    List<PollAnswer.Stop> stop = new ArrayList<>();
    for (Object each : list(body, "stop")) {
      Map<?, ?> item = object(each, "stop");
      stop.add(new PollAnswer.Stop(name(item), number(item, "deadline_ms", 0, Long.MAX_VALUE)));
    }
    List<WorkName> working = new ArrayList<>();
    for (Object each : list(body, "working")) {
      working.add(name(object(each, "working")));
    }
    long leaseMs = number(body, "lease_ms", 0, MS_MAX);
    Standing standing = standing(body);
    Epoch freeze = standing == Standing.FREEZE ? epoch(body, "freeze") : null;
    return new PollAnswer(text(body, "state"), leaseMs, start, stop, working, standing, freeze);
  }

  private static Standing standing(Map<?, ?> body) throws JsonException {
    if (!body.containsKey("standby")) {
      return Standing.OWN;
    }
    String word = text(body, "standby");
    for (Standing each : Standing.values()) {
      if (each.name().equals(word.toUpperCase(Locale.ROOT))) {
        return each;
      }
    }
    throw new JsonException("standby is a word that this client does not know: " + word);
  }

  /** Returns the members of a problem (RFC 9457); none if the body is something else. */
  static Map<?, ?> problem(byte[] bytes) {
    try {
      Object value = JsonReader.read(bytes);
      return value instanceof Map ? (Map<?, ?>) value : Collections.emptyMap();
    } catch (JsonException error) {
      return Collections.emptyMap();
    }
  }

  private static WorkName name(Map<?, ?> item) throws JsonException {
    List<?> queue = list(item, "queue");
    if (queue.size() != 3
        || !(queue.get(0) instanceof String)
        || !(queue.get(1) instanceof String)
        || !isNumber(queue.get(2), 0, Integer.MAX_VALUE)) {
      throw new JsonException("queue is not [topic, broker name, number]");
    }
    int id = ((Long) queue.get(2)).intValue();
    return new WorkName(
        new QueueName((String) queue.get(0), (String) queue.get(1), id), epoch(item, "epoch"));
  }

  private static Epoch epoch(Map<?, ?> item, String name) throws JsonException {
    List<?> epoch = list(item, name);
    if (epoch.size() != 2
        || !isNumber(epoch.get(0), 0, Long.MAX_VALUE)
        || !isNumber(epoch.get(1), 0, Long.MAX_VALUE)) {
      throw new JsonException(name + " is not [generation, number]");
    }
    return new Epoch((Long) epoch.get(0), (Long) epoch.get(1));
  }

  private static Map<?, ?> object(Object value, String what) throws JsonException {
    if (value instanceof Map) {
      return (Map<?, ?>) value;
    }
    throw new JsonException(what + " is no object");
  }

  private static List<?> list(Map<?, ?> body, String name) throws JsonException {
    if (body.get(name) instanceof List) {
      return (List<?>) body.get(name);
    }
    throw new JsonException(name + " is no array");
  }

  private static String text(Map<?, ?> body, String name) throws JsonException {
    if (body.get(name) instanceof String) {
      return (String) body.get(name);
    }
    throw new JsonException(name + " is no string");
  }

  private static long number(Map<?, ?> body, String name, long least, long most)
      throws JsonException {
    if (isNumber(body.get(name), least, most)) {
      return (Long) body.get(name);
    }
    throw new JsonException(name + " is no number from " + least + " to " + most);
  }

  private static boolean isNumber(Object value, long least, long most) {
    return value instanceof Long && (Long) value >= least && (Long) value <= most;
  }
}
