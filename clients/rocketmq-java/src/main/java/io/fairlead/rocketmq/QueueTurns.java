package io.fairlead.rocketmq;

import io.fairlead.client.GatewayMember;
import io.fairlead.client.session.WorkName;
import java.util.Map;
import java.util.Queue;
import java.util.function.Consumer;
import java.util.logging.Logger;
import org.apache.rocketmq.client.impl.consumer.ProcessQueue;
import org.apache.rocketmq.common.message.MessageQueue;

/** Adopts, watches and releases queues. One thread calls it, and none of it waits for a listener. */
final class QueueTurns {
  private static final Logger LOG = Logger.getLogger("io.fairlead.rocketmq");
  private static final long RETRY_MS = 500;
  /** RocketMQ puts an illegal offset right, or resets one, 10 s after it has dropped the queue. */
  private static final long TAKEN_AWAY_MAX_MS = 15_000;

  private final RocketMQ rocketmq;
  private final HeldQueues held;
  private final GrantedOffsets offsets;
  private final Counters counters;
  private final boolean ordered;
  private final Queue<Runnable> inbox;
  private final Consumer<HeldQueue> drain;
  private final QueueObserver observer;
  private GatewayMember member;

  QueueTurns(
      RocketMQ rocketmq,
      HeldQueues held,
      GrantedOffsets offsets,
      Counters counters,
      boolean ordered,
      Queue<Runnable> inbox,
      Consumer<HeldQueue> drain,
      QueueObserver observer) {
    this.rocketmq = rocketmq;
    this.held = held;
    this.offsets = offsets;
    this.counters = counters;
    this.ordered = ordered;
    this.inbox = inbox;
    this.drain = drain;
    this.observer = observer;
  }

  void begin(GatewayMember gateway) {
    member = gateway;
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

  private HeldQueue held(WorkName name, long offset) {
    return new HeldQueue(
        name, offset, () -> isGranted(name), () -> inbox.add(() -> {}), observer);
  }

  private boolean isGranted(WorkName name) {
    return name.epoch.equals(member.works(name.queue));
  }

  /** Closes the gate of a work; {@code lost}: it is somebody else's already, or soon. */
  void stop(WorkName name, boolean lost) {
    for (HeldQueue work : held.all()) {
      if (work.name.equals(name)) {
        if (lost) {
          work.gate.abandon();
        }
        work.gate.close();
        work.stopping = true;
        work.lost |= lost;
        if (lost) {
          counters.lost.incrementAndGet();
          LOG.warning(name + " is lost, with " + work.gate.inside() + " calls under way");
        }
        release(work, true);
        return;
      }
    }
    // It has ended before this was said.
    member.stopped(name, null, null);
  }

  /** Looks at each queue once. */
  void take(boolean running) {
    for (HeldQueue work : held.all()) {
      if (work.stopping) {
        release(work, running);
      } else if (work.takenAway) {
        takeBack(work);
      } else if (!work.adopted) {
        adopt(work);
      } else if (running && isTakenAway(work)) {
        work.takenAway = true;
        work.takenAwayMs = System.nanoTime() / 1_000_000;
        work.gate.close();
        counters.takenAway.incrementAndGet();
        LOG.warning(work.name + " was taken away by RocketMQ: a reset, or an offset it has not");
      }
      long position = work.gate.position();
      if (position != work.reported) {
        work.reported = position;
        member.progressed(work.name, position, null);
      }
    }
    sweep();
  }

  private void adopt(HeldQueue work) {
    long nowMs = System.nanoTime() / 1_000_000;
    boolean isBusy = work.former != null && work.former.gate.inside() > 0;
    if (isBusy || nowMs < work.nextTryMs || work.gate.isClosed()) {
      return;
    }
    if (work.former != null) {
      work.former.tellStopped();
      work.former = null;
    }
    work.nextTryMs = nowMs + RETRY_MS;
    if (ordered && !rocketmq.lock(work.queue)) {
      counters.lockWaits.incrementAndGet();
      LOG.info(work.name + " waits: a broker still keeps its lock for another client");
      return;
    }
    work.tellStarted();
    if (rocketmq.adopt(work, ordered)) {
      counters.adopted.incrementAndGet();
      LOG.info("start " + work.name + " at " + work.gate.position());
    }
  }

  private boolean isTakenAway(HeldQueue work) {
    boolean isFed = rocketmq.table().get(work.queue) == work.messages;
    return !isFed || work.messages.isDropped() && isGranted(work.name);
  }

  private void takeBack(HeldQueue work) {
    drainGaps(work);
    boolean isGone = rocketmq.table().get(work.queue) != work.messages;
    boolean isLate = System.nanoTime() / 1_000_000 - work.takenAwayMs > TAKEN_AWAY_MAX_MS;
    if (!work.gate.mayRelease() || !(isGone || isLate) || !isGranted(work.name)) {
      return;
    }
    long position = work.gate.position();
    long from = Math.max(position, work.movedTo);
    if (work.movedTo >= 0 && work.movedTo < position) {
      LOG.warning(work.name + ": a reset to " + work.movedTo + " is refused; use fairlead reset");
    }
    end(work);
    HeldQueue again = held(work.name, from);
    held.put(again);
    work.goOn(again, from);
    LOG.warning(work.name + " goes on at " + from);
    adopt(again);
  }

  private void release(HeldQueue work, boolean running) {
    drainGaps(work);
    if (!work.gate.mayRelease()) {
      return;
    }
    long position = work.gate.position();
    if (running && !work.lost && work.adopted) {
      // Before anybody hears that it is free.
      offsets.commit(work);
    }
    end(work);
    if (running && ordered && work.adopted) {
      rocketmq.unlock(work.queue);
    }
    counters.released.incrementAndGet();
    LOG.info("stop " + work.name + " at " + position);
    work.tellStopped();
    member.stopped(work.name, work.lost ? null : (Long) position, null);
  }

  private void drainGaps(HeldQueue work) {
    if (!work.draining && work.gate.hasGap()) {
      work.draining = true;
      Thread thread =
          new Thread(
              () -> {
                drain.accept(work);
                work.draining = false;
              },
              "fairlead-drain-" + work.queue.getQueueId());
      thread.setDaemon(true);
      thread.start();
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
      if (held.at(each.getKey()) == null) {
        each.getValue().setDropped(true);
        rocketmq.table().remove(each.getKey(), each.getValue());
        if (ordered) {
          rocketmq.unlock(each.getKey());
        }
      }
    }
  }
}
