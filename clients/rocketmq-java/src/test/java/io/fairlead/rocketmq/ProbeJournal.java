package io.fairlead.rocketmq;

import io.fairlead.client.json.JsonWriter;
import io.fairlead.client.session.Epoch;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;

/** Writes a journal, one write for each line; any thread may call it. */
final class ProbeJournal {
  private final OutputStream file;

  ProbeJournal(String path, String clientId) throws IOException {
    file = new FileOutputStream(path, true);
    String name = ManagementFactory.getRuntimeMXBean().getName();
    long process = Long.parseLong(name.substring(0, name.indexOf('@')));
    write("opened", "client_id", clientId, "pid", process);
  }

  void held(MessageQueue queue, List<MessageExt> messages) {
    for (MessageExt message : messages) {
      write("held", "queue", name(queue), "offset", message.getQueueOffset());
    }
  }

  void consumed(MessageQueue queue, MessageExt message) {
    long offset = message.getQueueOffset();
    String body = new String(message.getBody(), StandardCharsets.UTF_8);
    // The producers of tests number their messages; anybody else's have an offset alone.
    long number = body.matches("\\d{1,18}") ? Long.parseLong(body) : offset;
    write("consumed", "queue", name(queue), "offset", offset, "number", number);
  }

  void failed(MessageQueue queue, MessageExt message) {
    write("failed", "queue", name(queue), "offset", message.getQueueOffset());
  }

  QueueObserver observer() {
    return new Diary();
  }

  void event(String name) {
    Map<String, Object> line = new LinkedHashMap<>();
    line.put("event", name);
    line.put("t", System.nanoTime());
    say(line);
  }

  synchronized void say(Map<String, Object> line) {
    byte[] whole = bytes(line);
    System.out.write(whole, 0, whole.length);
    System.out.flush();
  }

  private synchronized void write(String kind, Object... fields) {
    Map<String, Object> line = new LinkedHashMap<>();
    line.put("kind", kind);
    for (int at = 0; at < fields.length; at += 2) {
      line.put((String) fields[at], fields[at + 1]);
    }
    // Other journals take their times from the same clock of this machine.
    line.put("t", System.nanoTime());
    try {
      file.write(bytes(line));
    } catch (IOException error) {
      throw new IllegalStateException("journal: " + error, error);
    }
    say(line);
  }

  private static byte[] bytes(Map<String, Object> line) {
    byte[] written = JsonWriter.write(line);
    byte[] whole = Arrays.copyOf(written, written.length + 1);
    whole[written.length] = '\n';
    return whole;
  }

  private static List<Object> name(MessageQueue queue) {
    return Arrays.asList(queue.getTopic(), queue.getBrokerName(), (long) queue.getQueueId());
  }

  private static List<Object> pair(Epoch epoch) {
    return Arrays.asList(epoch.generation, epoch.number);
  }

  private final class Diary implements QueueObserver {
    @Override
    public void started(MessageQueue queue, Epoch epoch, long offset) {
      write("start", "queue", name(queue), "epoch", pair(epoch), "offset", offset);
    }

    @Override
    public void passed(MessageQueue queue, Epoch epoch, long offset, long end, String why) {
      write(
          "passed", "queue", name(queue), "offset", offset, "count", end - offset, "why", why);
    }

    @Override
    public void stopped(MessageQueue queue, Epoch epoch, long offset) {
      write("stop", "queue", name(queue), "epoch", pair(epoch), "offset", offset);
    }
  }
}
