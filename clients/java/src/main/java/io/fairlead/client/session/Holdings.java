package io.fairlead.client.session;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * What a client holds, and who decides that: the gateway, its data plane, or nobody.
 *
 * <p>A client that stands by follows the strategy that its data plane has always had, until it
 * hears "freeze". It answers with all that it holds, and keeps it; the answer without "standby"
 * grants it just these queues, and it goes on in place. So a group is taken over while nothing
 * moves.
 */
final class Holdings {
  private final boolean standsBy;

  /** The queues that have an epoch: granted, or named in the answer to a freeze. */
  final Map<QueueName, Held> works = new LinkedHashMap<>();

  private Standing now;
  private Epoch freeze;
  private boolean loose;
  private boolean skipped;

  /** A queue that the client works on. */
  static final class Held {
    /** Names the work to the application; of a frozen one it is the freeze's. */
    private Epoch epoch;

    /** Names the work to the gateway; null: frozen, and not granted. */
    private Epoch granted;

    private Long position;
    private Long end;
    private boolean stopping;

    Held(Epoch epoch, Long position, Epoch granted) {
      this.epoch = epoch;
      this.position = position;
      this.granted = granted;
    }

    Epoch epoch() {
      return epoch;
    }

    Epoch granted() {
      return granted;
    }

    boolean isStopping() {
      return stopping;
    }

    void mustStop() {
      stopping = true;
    }

    void report(Long offset, Long newEnd) {
      position = offset != null ? offset : position;
      end = newEnd != null ? newEnd : end;
    }

    /** Asks the application to stop, once. */
    void stop(QueueName queue, List<Action> done) {
      if (!stopping) {
        stopping = true;
        done.add(new Action.StopWork(new WorkName(queue, epoch)));
      }
    }

    Work as(QueueName queue) {
      return new Work(queue, granted, position, end);
    }
  }

  Holdings(boolean standsBy) {
    this.standsBy = standsBy;
    begin();
  }

  /** Begins anew: the next session holds nothing until an answer says so. */
  void begin() {
    now = standsBy ? Standing.WAIT : Standing.OWN;
    freeze = null;
    skipped = false;
  }

  Standing now() {
    return now;
  }

  /** Returns whether nothing runs. */
  boolean isIdle() {
    return works.isEmpty() && !loose;
  }

  /** Returns whether the application may hold queues without an epoch, by following. */
  boolean isLoose() {
    return loose;
  }

  /** Returns whether the application may work on what it holds by following. */
  boolean isFollowed() {
    return loose && (now == Standing.FOLLOW || now == Standing.FREEZE);
  }

  /** Nothing runs any more that has no epoch. */
  void unfollowed() {
    loose = false;
  }

  /** Returns where the client is, at OWN once nothing runs without a grant; null: no standby. */
  Standing reached() {
    if (!standsBy) {
      return null;
    }
    if (now != Standing.OWN) {
      return now;
    }
    return loose ? Standing.FOLLOW : hasUngranted() ? Standing.FREEZE : Standing.OWN;
  }

  /** Returns whether nothing runs but what is granted. */
  boolean isOwn() {
    return now == Standing.OWN && !loose && !hasUngranted();
  }

  private boolean hasUngranted() {
    for (Held held : works.values()) {
      if (held.granted == null) {
        return true;
      }
    }
    return false;
  }

  /** Returns whether an answer has told starts that had to wait, and that may come now. */
  boolean startsWait() {
    return skipped && !loose && !hasUngranted();
  }

  /** Returns the answer to the newest freeze; null if there is none yet. */
  Frozen answer() {
    if (now != Standing.FREEZE || loose || freeze == null) {
      return null;
    }
    Map<QueueName, Long> queues = new LinkedHashMap<>();
    for (Map.Entry<QueueName, Held> work : works.entrySet()) {
      queues.put(work.getKey(), work.getValue().position);
    }
    return new Frozen(freeze, queues);
  }

  /** Takes in who decides now; one that leaves begins nothing, and stops as before. */
  void hear(PollAnswer answer, boolean leaves, List<Action> done) {
    if (answer.standing == now && Objects.equals(answer.freeze, freeze)) {
      return;
    }
    now = answer.standing;
    freeze = answer.freeze;
    if (now == Standing.OWN) {
      own(answer.start, leaves, done);
      return;
    }
    if (leaves) {
      stopWorks(done);
      return;
    }
    if (now == Standing.WAIT) {
      return;
    }
    works.clear();
    loose = true;
    done.add(freeze == null ? new Action.Follow() : new Action.Freeze(freeze));
  }

  private void own(List<PollAnswer.Start> starts, boolean leaves, List<Action> done) {
    if (loose && !leaves) {
      done.add(new Action.StopFollowing());
    }
    Map<QueueName, PollAnswer.Start> former = new HashMap<>();
    for (PollAnswer.Start start : starts) {
      if (start.former) {
        former.put(start.name.queue, start);
      }
    }
    for (Map.Entry<QueueName, Held> work : works.entrySet()) {
      PollAnswer.Start start = former.get(work.getKey());
      Held held = work.getValue();
      if (start == null) {
        held.stop(work.getKey(), done);
        continue;
      }
      held.granted = start.name.epoch;
      held.position = held.position == null ? Long.valueOf(start.offset) : held.position;
      if (!held.stopping) {
        held.epoch = start.name.epoch;
        done.add(new Action.StartWork(start.name, start.offset, true));
      }
    }
  }

  /** Takes in all that the application holds; returns whether that answers the newest freeze. */
  boolean frozen(Epoch epoch, Map<QueueName, Long> held) {
    if (!loose || now != Standing.FREEZE || !epoch.equals(freeze)) {
      return false;
    }
    loose = false;
    works.clear();
    for (Map.Entry<QueueName, Long> each : held.entrySet()) {
      works.put(each.getKey(), new Held(epoch, each.getValue(), null));
    }
    return true;
  }

  /** Starts what is granted. A start that cannot begin yet comes again with later answers. */
  void start(List<PollAnswer.Start> starts, List<Action> done) {
    skipped = false;
    for (PollAnswer.Start start : starts) {
      Held held = works.get(start.name.queue);
      if (loose || held != null && held.granted == null) {
        skipped = true;
      } else if (held == null) {
        works.put(start.name.queue, new Held(start.name.epoch, start.offset, start.name.epoch));
        done.add(new Action.StartWork(start.name, start.offset, false));
      }
    }
  }

  /** Asks the application to stop everything in order. */
  void stopAll(List<Action> done) {
    if (loose) {
      done.add(new Action.StopFollowing());
    }
    stopWorks(done);
  }

  private void stopWorks(List<Action> done) {
    for (Map.Entry<QueueName, Held> work : works.entrySet()) {
      work.getValue().stop(work.getKey(), done);
    }
  }

  /** Returns whether the application was asked to stop something and has not yet. */
  boolean awaitsStop() {
    for (Held held : works.values()) {
      if (held.isStopping()) {
        return true;
      }
    }
    return false;
  }

  /** Returns where the granted works are. */
  List<Work> saidWorks() {
    List<Work> result = new ArrayList<>();
    for (Map.Entry<QueueName, Held> work : works.entrySet()) {
      if (work.getValue().granted != null) {
        result.add(work.getValue().as(work.getKey()));
      }
    }
    return result;
  }

  /** Returns the names of all works, as the application knows them. */
  List<WorkName> names() {
    List<WorkName> result = new ArrayList<>();
    for (Map.Entry<QueueName, Held> work : works.entrySet()) {
      result.add(new WorkName(work.getKey(), work.getValue().epoch));
    }
    return result;
  }
}
