package io.fairlead.client.session;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * The session of a thin client: events in, actions out, without a clock, threads, input or output.
 *
 * <p>It keeps the four rules of the gateway's clients:
 *
 * <ol>
 *   <li>Work on a queue only between start and stop, and only while the lease holds: until the
 *       newest answered request was sent, plus the lease of its answer.
 *   <li>When asked to stop, finish what is in hand, then say "stopped" with the next offset. When
 *       the lease ends, stop everything at once and say nothing of it.
 *   <li>Say the position of every work with every poll. Start each queue exactly at its offset.
 *   <li>Echo the state, raise the sequence with every poll, and use only the answer to the newest
 *       poll.
 * </ol>
 *
 * <p>All times are milliseconds of one clock that never goes back. The class is not safe for
 * several threads.
 */
public final class ThinSession {
  /** Between a request that failed and the next one. */
  public static final long RETRY_MS = 200;

  /** A time that does not come. */
  public static final long NEVER_MS = 1L << 62;

  private static final String DUPLICATE = "duplicate_client_id";

  private ThinState state = ThinState.JOINING;
  private long leaseUntilMs;
  private String session = "";
  private String token = "";
  private long pollMs = 3_000;
  private long newestJoin;

  /**
   * The number of the newest request. Joins and polls share their numbers, and these go on over
   * joins: a late answer of a former session, or of a former join, is none to the newest request.
   */
  private long sequence;

  private long sentMs;
  private boolean underWay;
  private long dueMs;
  private final Map<QueueName, Held> works = new LinkedHashMap<>();
  private final Map<WorkName, Work> stopped = new LinkedHashMap<>();
  private Set<WorkName> said = new HashSet<>();
  private List<Subscription> subscriptions;
  private List<Subscription> subscribed;
  private String closing = "";
  private List<Action> done = new ArrayList<>();

  private static final class Held {
    final Epoch epoch;
    long position;
    Long end;
    boolean stopping;

    Held(Epoch epoch, long position) {
      this.epoch = epoch;
      this.position = position;
    }

    Work as(QueueName queue) {
      return new Work(queue, epoch, position, end);
    }

    void report(Long offset, Long newEnd) {
      position = offset != null ? offset : position;
      end = newEnd != null ? newEnd : end;
    }
  }

  /** Returns what the session waits for. */
  public ThinState state() {
    return state;
  }

  /** Returns until when the client may work. */
  public long leaseUntilMs() {
    return leaseUntilMs;
  }

  /** Returns the number of the newest request. */
  public long newest() {
    return sequence;
  }

  /** Returns the epoch under which the client may work on the queue now; null if it may not. */
  public Epoch works(QueueName queue, long nowMs) {
    Held held = works.get(queue);
    return held != null && isLeased() && nowMs < leaseUntilMs ? held.epoch : null;
  }

  /** Returns the latest time for the next {@link #passed}. */
  public long nextDeadlineMs() {
    if (state == ThinState.FENCED || state == ThinState.CLOSED) {
      return NEVER_MS;
    }
    long due = underWay ? sentMs + patienceMs() : dueMs;
    return state == ThinState.JOINING ? due : Math.min(due, leaseUntilMs);
  }

  /** Returns how long an answer is awaited: the gateway may hold it for {@code poll_ms}. */
  public long patienceMs() {
    return pollMs + Math.max(1_000, pollMs / 2);
  }

  // The events.

  /** Time has passed. */
  public List<Action> passed(long nowMs) {
    checkLease(nowMs);
    return endStep(nowMs);
  }

  /** The join of this number was answered. */
  public List<Action> joined(long number, Joined answer, long nowMs) {
    if (state == ThinState.JOINING && number == newestJoin && underWay) {
      session = answer.session;
      token = answer.state;
      pollMs = answer.pollMs;
      underWay = false;
      leaseUntilMs = sentMs + answer.leaseMs;
      dueMs = nowMs;
      // Its client closes already: the session that the join made ends at once.
      state = closing.isEmpty() ? ThinState.POLLING : ThinState.ENDING;
    }
    checkLease(nowMs);
    return endStep(nowMs);
  }

  /** The poll of this number was answered; only the newest counts. */
  public List<Action> answered(long number, PollAnswer answer, long nowMs) {
    checkLease(nowMs);
    if (isLeased() && number == sequence && underWay) {
      underWay = false;
      token = answer.state;
      leaseUntilMs = sentMs + answer.leaseMs;
      dueMs = nowMs;
      stopped.keySet().removeAll(said);
      subscribed = subscriptions;
      obey(answer);
      checkLease(nowMs);
    }
    return endStep(nowMs);
  }

  /** No answer comes to the request of this number. */
  public List<Action> failed(long number, long nowMs) {
    checkLease(nowMs);
    if (underWay && number == sequence) {
      underWay = false;
      dueMs = nowMs + RETRY_MS;
    }
    return endStep(nowMs);
  }

  /** The gateway says that the session is over, or that the join makes none. */
  public List<Action> lost(long number, String reason, long nowMs) {
    if ((hasSession() || state == ThinState.JOINING) && number == sequence) {
      if (reason.equals(DUPLICATE)) {
        closing = reason;
      }
      if (state == ThinState.JOINING) {
        return failed(number, nowMs);
      }
      fence(reason);
    }
    return endStep(nowMs);
  }

  /** The gateway has ended the session, as the client wanted. */
  public List<Action> left(long nowMs) {
    if (state == ThinState.ENDING) {
      state = ThinState.CLOSED;
      done.add(new Action.Close(closing));
    }
    return endStep(nowMs);
  }

  /** All messages of the queue below {@code offset} are processed; {@code end} may be null. */
  public List<Action> progressed(WorkName name, long offset, Long end, long nowMs) {
    checkLease(nowMs);
    Held held = works.get(name.queue);
    if (held != null && held.epoch.equals(name.epoch)) {
      held.report(offset, end);
    }
    return endStep(nowMs);
  }

  /** The application has stopped this work; with a null offset the last progress holds. */
  public List<Action> stopped(WorkName name, Long offset, Long end, long nowMs) {
    checkLease(nowMs);
    Held held = works.get(name.queue);
    if (held != null && held.epoch.equals(name.epoch) && held.stopping) {
      held.report(offset, end);
      works.remove(name.queue);
      if (isLeased()) {
        stopped.put(name, held.as(name.queue));
        hurry(nowMs);
      }
    }
    return endStep(nowMs);
  }

  /** The client reads other topics from now on. */
  public List<Action> subscribe(List<Subscription> topics, long nowMs) {
    checkLease(nowMs);
    subscriptions = new ArrayList<>(topics);
    hurry(nowMs);
    return endStep(nowMs);
  }

  /** The application closes the client. */
  public List<Action> leave(long nowMs) {
    checkLease(nowMs);
    closing = closing.isEmpty() ? "left" : closing;
    if (state == ThinState.POLLING) {
      state = ThinState.LEAVING;
      for (Map.Entry<QueueName, Held> work : works.entrySet()) {
        stop(work.getKey(), work.getValue());
      }
      hurry(nowMs);
    }
    return endStep(nowMs);
  }

  // The rules.

  private void obey(PollAnswer answer) {
    for (PollAnswer.Stop stop : answer.stop) {
      Held held = works.get(stop.name.queue);
      if (held != null && held.epoch.equals(stop.name.epoch) && stop.deadlineMs > 0) {
        stop(stop.name.queue, held);
      }
    }
    for (QueueName queue : new ArrayList<>(works.keySet())) {
      WorkName name = new WorkName(queue, works.get(queue).epoch);
      if (!answer.working.contains(name)) {
        stopped.put(name, works.remove(queue).as(queue));
        done.add(new Action.Abandon(name));
      }
    }
    if (state != ThinState.POLLING) {
      return;
    }
    for (PollAnswer.Start start : answer.start) {
      if (!works.containsKey(start.name.queue)) {
        works.put(start.name.queue, new Held(start.name.epoch, start.offset));
        done.add(new Action.StartWork(start.name, start.offset));
      }
    }
  }

  private void stop(QueueName queue, Held held) {
    if (!held.stopping) {
      held.stopping = true;
      done.add(new Action.StopWork(new WorkName(queue, held.epoch)));
    }
  }

  /** Polls now: whoever waits for these words does not wait for the poll under way. */
  private void hurry(long nowMs) {
    if (isLeased()) {
      underWay = false;
      dueMs = nowMs;
    }
  }

  private void checkLease(long nowMs) {
    if (hasSession() && nowMs >= leaseUntilMs) {
      fence("lease_ended");
    }
  }

  private void fence(String reason) {
    state = ThinState.FENCED;
    underWay = false;
    stopped.clear();
    List<WorkName> names = new ArrayList<>();
    for (Map.Entry<QueueName, Held> work : works.entrySet()) {
      names.add(new WorkName(work.getKey(), work.getValue().epoch));
      work.getValue().stopping = true;
    }
    done.add(new Action.StopAll(reason, names));
  }

  private List<Action> endStep(long nowMs) {
    if (state == ThinState.FENCED && works.isEmpty()) {
      if (!closing.isEmpty()) {
        state = ThinState.CLOSED;
        done.add(new Action.Close(closing));
      } else {
        state = ThinState.JOINING;
        subscribed = null;
        dueMs = nowMs;
      }
    }
    if (state == ThinState.LEAVING && works.isEmpty()) {
      state = ThinState.ENDING;
      underWay = false;
      dueMs = nowMs;
    }
    if (underWay && nowMs >= sentMs + patienceMs()) {
      underWay = false;
      dueMs = nowMs;
    }
    if (state == ThinState.JOINING && !closing.isEmpty() && !underWay) {
      state = ThinState.CLOSED;
      done.add(new Action.Close(closing));
    }
    if (!underWay && nowMs >= dueMs) {
      send(nowMs);
    }
    List<Action> result = done;
    done = new ArrayList<>();
    return result;
  }

  private void send(long nowMs) {
    if (state == ThinState.FENCED || state == ThinState.CLOSED) {
      return;
    }
    underWay = true;
    sentMs = nowMs;
    sequence++;
    if (state == ThinState.JOINING) {
      newestJoin = sequence;
      done.add(new Action.SendJoin(sequence));
      return;
    }
    said = new HashSet<>(stopped.keySet());
    List<Work> working = new ArrayList<>();
    for (Map.Entry<QueueName, Held> work : works.entrySet()) {
      working.add(work.getValue().as(work.getKey()));
    }
    List<Subscription> topics =
        Objects.equals(subscriptions, subscribed) ? null : subscriptions;
    Poll poll =
        new Poll(
            session,
            token,
            sequence,
            pollMs,
            working,
            new ArrayList<>(stopped.values()),
            topics,
            state != ThinState.POLLING);
    done.add(
        state == ThinState.ENDING ? new Action.SendLeave(poll) : new Action.SendPoll(poll));
  }

  private boolean isLeased() {
    return state == ThinState.POLLING || state == ThinState.LEAVING;
  }

  private boolean hasSession() {
    return isLeased() || state == ThinState.ENDING;
  }
}
