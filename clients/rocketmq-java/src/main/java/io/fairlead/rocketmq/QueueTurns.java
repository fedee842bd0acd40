package io.fairlead.rocketmq;

import io.fairlead.client.GatewayMember;
import io.fairlead.client.session.Epoch;
import io.fairlead.client.session.ThinState;
import io.fairlead.client.session.WorkName;
import io.fairlead.rocketmq.Counters.Thing;
import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.function.Consumer;
import java.util.logging.Logger;
import org.apache.rocketmq.client.impl.consumer.ProcessQueue;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * Adopts, watches and releases queues. One thread calls it; what waits for a listener or a broker is
 * done by others, which wake that thread through the inbox.
 */
final class QueueTurns {
  private static final Logger LOG = Logger.getLogger("io.fairlead.rocketmq");
  private static final long RETRY_MS = 500;
  /** RocketMQ puts an illegal offset right, or resets one, 10 s after it has dropped the queue. */
  private static final long TAKEN_AWAY_MAX_MS = 15_000;

  private final RocketMQ rocketmq;
  private final HeldQueues held;
  private final GrantedOffsets offsets;
  private final Counters counters;
  private final Queue<Runnable> inbox;
  private final Consumer<HeldQueue> drain;
  private final Options options;
  private final boolean ordered;
  private final Errands errands;
  final Following following;
  private final Set<String> changedTopics = new HashSet<>();
  private GatewayMember member;

  QueueTurns(
      RocketMQ rocketmq,
      HeldQueues held,
      GrantedOffsets offsets,
      Counters counters,
      Queue<Runnable> inbox,
      Consumer<HeldQueue> drain,
      Options options) {
    this.rocketmq = rocketmq;
    this.held = held;
    this.offsets = offsets;
    this.counters = counters;
    this.inbox = inbox;
    this.drain = drain;
    this.options = options;
    ordered = rocketmq.ordered();
    errands = new Errands(this::wake);
    following = new Following(rocketmq, held, counters, this, errands);
  }

  void begin(GatewayMember gateway) {
    member = gateway;
    following.begin(gateway);
    errands.run(() -> Rehearsal.run(rocketmq));
  }

  /** Ends what is done by others; nothing of it is awaited. */
  void end() {
    errands.end();
  }

  private void wake() {
    inbox.add(() -> {});
  }

  void start(WorkName name, long offset) {
    HeldQueue work = held(name, offset);
    HeldQueue before = held.at(work.queue);
    work.former = before;
    if (before != null) {
      end(before);
    }
    held.put(work);
    adopt(work);
  }

  /** A queue that the member holds frozen is granted; {@code offset} counts if it is gone. */
  void goOn(WorkName name, long offset) {
    for (HeldQueue work : held.all()) {
      if (work.name.equals(name)) {
        counters.add(Thing.TAKEN_OVER);
        LOG.info("go on with " + name + " at " + work.gate.position());
        work.tellStarted();
        return;
      }
    }
    start(name, offset);
  }

  private HeldQueue held(WorkName name, long offset) {
    return new HeldQueue(name, offset, this::mayWork, this::wake, options.observer);
  }

  boolean mayWork(HeldQueue work) {
    if (work.kept) {
      return true;
    }
    // A grant may come between two looks; then both have changed, and the third look sees that.
    for (int look = 0; look < 3; look++) {
      WorkName name = work.name;
      Epoch epoch = member.works(name.queue);
      if (name.epoch.equals(epoch) || options.standsBy && member.follows()) {
        return true;
      }
      if (name.equals(work.name) && Objects.equals(epoch, member.works(name.queue))) {
        return false;
      }
    }
    return false;
  }

  /** Closes the gate of a work; {@code lost}: it is somebody else's already, or soon. */
  void stop(WorkName name, boolean lost) {
    for (HeldQueue work : held.all()) {
      if (work.name.equals(name) && !work.kept) {
        stop(work, lost);
        return;
      }
    }
    // It has ended before this was said.
    member.stopped(name, null, null);
  }

  void stop(HeldQueue work, boolean lost) {
    if (lost && !work.lost) {
      work.gate.abandon();
      counters.add(Thing.LOST);
      LOG.warning(work.name + " is lost, with " + work.gate.inside() + " calls under way");
    }
    work.gate.close();
    work.stopping = true;
    work.lost |= lost;
    release(work, true);
  }

  /** The lease is over without a word of a gateway: the queues stay all the same. */
  void keepAll(Collection<WorkName> names) {
    for (HeldQueue work : held.all()) {
      if (!work.stopping && !work.kept) {
        work.kept = true;
        counters.add(Thing.KEPT);
        LOG.warning(work.name + " is kept without a lease; another member may read it as well");
      }
    }
    names.forEach(name -> member.stopped(name, null, null));
    member.unfollowed();
  }

  /** Looks at each queue once. */
  void take(boolean running) {
    boolean isAnswered = member.state() == ThinState.POLLING;
    for (HeldQueue work : held.all()) {
      if (work.kept && isAnswered) {
        LOG.warning(work.name + " was kept until now; a gateway answers again");
        work.gate.abandon();
        work.stopping = true;
      }
      if (work.stopping) {
        release(work, running);
      } else if (work.takenAway) {
        takeBack(work);
      } else if (!work.adopted) {
        adopt(work);
      } else if (running && isTakenAway(work)) {
        work.takenAway = true;
        work.takenAwayMs = nowMs();
        work.gate.close();
        counters.add(Thing.TAKEN_AWAY);
        LOG.warning(work.name + " was taken away by RocketMQ: a reset, or an offset it has not");
      }
      report(work);
    }
    sweep();
    if (options.standsBy) {
      following.take(running);
    }
    if (running && !changedTopics.isEmpty()) {
      Set<String> topics = new HashSet<>(changedTopics);
      changedTopics.clear();
      errands.inOrder(() -> topics.forEach(topic -> rocketmq.tellChange(topic, held)));
    }
  }

  private void report(HeldQueue work) {
    long position = work.gate.position();
    if (position != work.reported && !work.kept && work.isGranted()) {
      work.reported = position;
      member.progressed(work.name, position, work.endFrom(position));
    }
  }

  private void adopt(HeldQueue work) {
    boolean isBusy = work.former != null && work.former.gate.inside() > 0;
    if (isBusy || work.errand || nowMs() < work.nextTryMs || work.gate.isClosed()) {
      return;
    }
    if (work.former != null) {
      work.former.tellStopped();
      work.former = null;
    }
    if (ordered && !work.locked) {
      work.nextTryMs = nowMs() + RETRY_MS;
      errands.run(work, () -> lock(work));
      return;
    }
    work.tellStarted();
    if (rocketmq.adopt(work, ordered)) {
      counters.add(Thing.ADOPTED);
      changedTopics.add(work.queue.getTopic());
      LOG.info("start " + work.name + " at " + work.gate.position());
    } else {
      work.nextTryMs = nowMs() + RETRY_MS;
    }
  }

  private void lock(HeldQueue work) {
    if (rocketmq.lock(work.queue)) {
      // By following nobody hands over a position: whoever had the lock has committed since it was
      // asked. RocketMQ asks behind the lock too; without an answer the lock is taken again.
      long start = work.isGranted() ? work.gate.position() : rocketmq.start(work.queue);
      if (start >= 0) {
        work.gate.beginAt(start);
        work.locked = true;
        work.nextTryMs = 0;
      }
    } else {
      counters.add(Thing.LOCK_WAITS);
      LOG.info(work.name + " waits: a broker still keeps its lock for another client");
    }
  }

  private boolean isTakenAway(HeldQueue work) {
    boolean isFed = rocketmq.table().get(work.queue) == work.messages;
    return !isFed || work.messages.isDropped() && mayWork(work);
  }

  private void takeBack(HeldQueue work) {
    drainGaps(work);
    boolean isGone = rocketmq.table().get(work.queue) != work.messages;
    boolean isLate = nowMs() - work.takenAwayMs > TAKEN_AWAY_MAX_MS;
    if (work.errand || !work.gate.mayRelease() || !(isGone || isLate) || !mayWork(work)) {
      return;
    }
    long position = work.gate.position();
    if (work.movedTo >= 0 && work.movedTo < position && work.brokerEnd < 0) {
      errands.run(work, () -> work.brokerEnd = rocketmq.end(work.queue));
      return;
    }
    goOn(work, position);
  }

  private void goOn(HeldQueue work, long position) {
    long from = Math.max(position, work.movedTo);
    if (work.movedTo >= 0 && work.movedTo < position) {
      if (work.brokerEnd < position) {
        // The broker has lost what was processed, or the topic is another one.
        from = work.movedTo;
      } else {
        counters.add(Thing.REFUSED_RESETS);
        LOG.warning(
            work.name + ": a reset to " + work.movedTo + " is refused; use fairlead offsets reset");
      }
    }
    end(work);
    HeldQueue again = held(work.name, from);
    again.locked = work.locked;
    // The gateway hears of the other position by the next look.
    again.reported = work.reported;
    held.put(again);
    work.goOn(again, from);
    LOG.warning(work.name + " goes on at " + from + " instead of " + position);
    adopt(again);
  }

  private void release(HeldQueue work, boolean running) {
    drainGaps(work);
    if (work.errand || !work.gate.mayRelease()) {
      return;
    }
    boolean commits = !work.lost && !work.kept && work.adopted;
    if (running && !work.parted && (commits || work.locked)) {
      // RocketMQ renews the locks of what its table has.
      rocketmq.table().remove(work.queue, work.messages);
      errands.run(work, () -> part(work, commits));
      return;
    }
    long position = work.gate.position();
    end(work);
    changedTopics.add(work.queue.getTopic());
    counters.add(Thing.RELEASED);
    LOG.info("stop " + work.name + " at " + position);
    work.tellStopped();
    member.stopped(work.name, work.lost || work.kept ? null : (Long) position, null);
  }

  /** Tells the broker, before anybody hears that the queue is free. */
  private void part(HeldQueue work, boolean commits) {
    if (commits && work.locked && work.isGranted()) {
      errands.both(() -> rocketmq.unlock(work.queue), () -> offsets.commit(work));
    } else {
      // RocketMQ's strategy waits for no release: whoever locks next asks what is committed.
      if (commits) {
        offsets.commit(work);
      }
      if (work.locked) {
        rocketmq.unlock(work.queue);
      }
    }
    work.parted = true;
  }

  private void drainGaps(HeldQueue work) {
    if (!work.draining && work.gate.hasGap()) {
      work.draining = true;
      errands.run(
          () -> {
            try {
              drain.accept(work);
            } finally {
              work.draining = false;
            }
          });
    }
  }

  private void end(HeldQueue work) {
    work.gate.abandon();
    held.remove(work);
    rocketmq.table().remove(work.queue, work.messages);
  }

  /** Drops what RocketMQ feeds by itself: a rebalance of it may have overtaken a release. */
  private void sweep() {
    for (Map.Entry<MessageQueue, ProcessQueue> each : rocketmq.table().entrySet()) {
      MessageQueue queue = each.getKey();
      if (held.at(queue) == null) {
        each.getValue().setDropped(true);
        rocketmq.table().remove(queue, each.getValue());
        counters.add(Thing.SWEPT);
        LOG.info(queue + " is not this member's, and RocketMQ read it: it is dropped");
        if (ordered) {
          errands.run(() -> rocketmq.unlock(queue));
        }
      }
    }
  }

  static long nowMs() {
    return System.nanoTime() / 1_000_000;
  }
}
