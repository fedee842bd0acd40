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
 * <p>One that stands by follows its data plane's strategy until an answer says otherwise.
 *
 * <p>All times are milliseconds of one clock that never goes back. The class is not safe for
 * several threads.
 */
public final class ThinSession {
  /** Between a request that failed and the next one. */
  public static final long RETRY_MS = 200;

  /** After it is asked to stop, and while it awaits other stops: it has more to say in a moment. */
  public static final long GATHER_MS = 20;

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
  private final Holdings held;
  private final Map<WorkName, Work> stopped = new LinkedHashMap<>();
  private Set<WorkName> said = new HashSet<>();
  private List<Subscription> subscriptions;
  private List<Subscription> subscribed;
  private String closing = "";

  /** When one that leaves stops what nobody takes over; NEVER_MS: it does not hand over. */
  private long handOverUntilMs = NEVER_MS;

  private List<Action> done = new ArrayList<>();

  /**
   * Makes a session.
   *
   * @param standsBy whether the client can follow its data plane's strategy
   */
  public ThinSession(boolean standsBy) {
    held = new Holdings(standsBy);
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
    Holdings.Held work = held.works.get(queue);
    return work != null && isLeased() && nowMs < leaseUntilMs ? work.epoch() : null;
  }

  /** Returns who decides what the client holds. */
  public Standing standing() {
    return held.now();
  }

  /** Returns whether the client may work now on what it holds by following. */
  public boolean follows(long nowMs) {
    return isLeased() && nowMs < leaseUntilMs && held.isFollowed();
  }

  /** Returns the latest time for the next {@link #passed}. */
  public long nextDeadlineMs() {
    if (state == ThinState.FENCED || state == ThinState.CLOSED) {
      return NEVER_MS;
    }
    long due = underWay ? sentMs + patienceMs() : dueMs;
    due = state == ThinState.JOINING ? due : Math.min(due, leaseUntilMs);
    return state == ThinState.LEAVING ? Math.min(due, handOverUntilMs) : due;
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
      stopped.keySet().removeAll(said);
      subscribed = subscriptions;
      obey(answer);
      dueMs = nowMs + (isAskedToStop() ? GATHER_MS : 0);
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
    Holdings.Held work = held.works.get(name.queue);
    if (work != null && work.epoch().equals(name.epoch)) {
      work.report(offset, end);
    }
    return endStep(nowMs);
  }

  /** The application has stopped this work; with a null offset the last progress holds. */
  public List<Action> stopped(WorkName name, Long offset, Long end, long nowMs) {
    checkLease(nowMs);
    Holdings.Held work = held.works.get(name.queue);
    if (work != null && work.epoch().equals(name.epoch) && work.isStopping()) {
      work.report(offset, end);
      held.works.remove(name.queue);
      if (isLeased()) {
        sayStopped(name.queue, work);
        hurry(nowMs, held.awaitsStop() ? GATHER_MS : 0);
      }
    }
    return endStep(nowMs);
  }

  /**
   * The application answers the freeze of this epoch: it holds these queues, and takes none. Each
   * has its next offset; null if the application does not know it.
   */
  public List<Action> frozen(Epoch epoch, Map<QueueName, Long> queues, long nowMs) {
    checkLease(nowMs);
    if (state == ThinState.POLLING && held.frozen(epoch, queues)) {
      hurry(nowMs);
    }
    return endStep(nowMs);
  }

  /** Nothing runs any more that the application held without a grant. */
  public List<Action> unfollowed(long nowMs) {
    checkLease(nowMs);
    boolean asked = state != ThinState.POLLING || held.now() == Standing.OWN;
    if (held.isLoose() && asked) {
      held.unfollowed();
      hurry(nowMs);
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

  /**
   * The application closes the client; a second call may hurry it. For {@code handOverMs} it works
   * on, until the gateway names each queue that somebody takes over.
   */
  public List<Action> leave(long nowMs, long handOverMs) {
    checkLease(nowMs);
    closing = closing.isEmpty() ? "left" : closing;
    long untilMs = nowMs + (held.isOwn() ? handOverMs : 0);
    if (state == ThinState.POLLING) {
      state = ThinState.LEAVING;
      handOverUntilMs = untilMs;
      hurry(nowMs);
    } else if (handOverUntilMs < NEVER_MS) {
      handOverUntilMs = Math.min(handOverUntilMs, untilMs);
    }
    return endStep(nowMs);
  }

  // The rules.

  private void obey(PollAnswer answer) {
    held.hear(answer, state != ThinState.POLLING, done);
    for (PollAnswer.Stop stop : answer.stop) {
      Holdings.Held work = held.works.get(stop.name.queue);
      if (work != null && stop.name.epoch.equals(work.granted()) && stop.deadlineMs > 0) {
        work.stop(stop.name.queue, done);
      }
    }
    for (QueueName queue : new ArrayList<>(held.works.keySet())) {
      Holdings.Held work = held.works.get(queue);
      if (work.granted() != null && !answer.working.contains(new WorkName(queue, work.granted()))) {
        held.works.remove(queue);
        sayStopped(queue, work);
        done.add(new Action.Abandon(new WorkName(queue, work.epoch())));
      }
    }
    if (state == ThinState.POLLING) {
      held.start(answer.start, done);
    }
  }

  /** Says it with the next poll, if the gateway knows of the work. */
  private void sayStopped(QueueName queue, Holdings.Held work) {
    if (work.granted() != null) {
      stopped.put(new WorkName(queue, work.granted()), work.as(queue));
    }
  }

  private boolean isAskedToStop() {
    for (Action each : done) {
      if (each instanceof Action.StopWork) {
        return true;
      }
    }
    return false;
  }

  private void hurry(long nowMs) {
    hurry(nowMs, 0);
  }

  /** Polls soon: whoever waits for these words does not wait for the poll under way. */
  private void hurry(long nowMs, long waitMs) {
    if (isLeased()) {
      long soon = nowMs + waitMs;
      dueMs = underWay ? soon : Math.min(dueMs, soon);
      underWay = false;
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
    done.add(new Action.StopAll(reason, held.names()));
    for (Holdings.Held work : held.works.values()) {
      work.mustStop();
    }
    held.begin();
  }

  private List<Action> endStep(long nowMs) {
    if (state == ThinState.LEAVING && nowMs >= handOverUntilMs) {
      handOverUntilMs = NEVER_MS;
      held.stopAll(done);
    }
    if (state == ThinState.FENCED && held.isIdle()) {
      if (!closing.isEmpty()) {
        state = ThinState.CLOSED;
        done.add(new Action.Close(closing));
      } else {
        state = ThinState.JOINING;
        subscribed = null;
        dueMs = nowMs;
      }
    }
    if (state == ThinState.LEAVING && held.isIdle()) {
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
    List<Subscription> topics =
        Objects.equals(subscriptions, subscribed) ? null : subscriptions;
    Poll poll =
        new Poll(
            session,
            token,
            sequence,
            held.startsWait() ? 0 : pollMs,
            held.saidWorks(),
            new ArrayList<>(stopped.values()),
            topics,
            state != ThinState.POLLING,
            held.reached(),
            held.answer());
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
