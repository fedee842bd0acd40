package io.fairlead.rocketmq;

import io.fairlead.client.GatewayMember;
import io.fairlead.client.session.Epoch;
import io.fairlead.client.session.QueueName;
import io.fairlead.client.session.Standing;
import io.fairlead.client.session.WorkName;
import io.fairlead.rocketmq.Counters.Thing;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.logging.Logger;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * What a member that stands by does while RocketMQ's former strategy decides, or nobody. It adopts
 * what that strategy gives it through gates of its own, so a take-over needs nothing but new names.
 * One thread calls it, but for {@link #goOn}.
 */
final class Following {
  private static final Logger LOG = Logger.getLogger("io.fairlead.rocketmq");
  private static final long RETRY_MS = 500;
  /** Names what is held by following: no engine has granted it. */
  static final Epoch NOBODY = new Epoch(0, 0);

  private final RocketMQ rocketmq;
  private final HeldQueues held;
  private final Counters counters;
  private final QueueTurns turns;
  private final Errands errands;
  private final Map<MessageQueue, Long> nextTryMs = new HashMap<>();
  private final AskedStarts starts = new AskedStarts();
  private GatewayMember member;
  private Epoch unanswered;
  private boolean stops;
  private boolean wasOwn;

  Following(
      RocketMQ rocketmq, HeldQueues held, Counters counters, QueueTurns turns, Errands errands) {
    this.rocketmq = rocketmq;
    this.held = held;
    this.counters = counters;
    this.turns = turns;
    this.errands = errands;
  }

  void begin(GatewayMember gateway) {
    member = gateway;
  }

  /** Keeps what is held; from now on RocketMQ's former strategy decides. */
  void follow() {
    unanswered = null;
    if (wasOwn) {
      held.wantWhatIsHeld();
      wasOwn = false;
    }
    for (HeldQueue work : held.all()) {
      if (work.isGranted()) {
        counters.add(Thing.GIVEN_BACK);
        work.rename(new WorkName(work.name.queue, NOBODY));
      }
    }
    LOG.info("RocketMQ's former strategy decides");
  }

  /** Takes and drops nothing from now on, and answers once nothing is on its way. */
  void freeze(Epoch epoch) {
    unanswered = epoch;
    LOG.info("freeze " + epoch + ": nothing is taken and nothing is given up");
  }

  /** Stops all that is held without a grant, and says so at its end. */
  void stop(boolean lost) {
    unanswered = null;
    stops = true;
    for (HeldQueue work : held.all()) {
      turns.stop(work, lost);
    }
  }

  /** The member holds the queue, frozen, and it is granted: it goes on in place. */
  boolean goOn(WorkName name) {
    MessageQueue queue = new MessageQueue(name.queue.topic, name.queue.brokerName, name.queue.id);
    HeldQueue work = held.at(queue);
    if (work == null || work.stopping) {
      return false;
    }
    work.name = name;
    return true;
  }

  /** Looks once. */
  void take(boolean running) {
    if (stops && held.all().isEmpty()) {
      stops = false;
      member.unfollowed();
    }
    Standing standing = member.standing();
    wasOwn |= standing == Standing.OWN;
    if (standing == Standing.FOLLOW && running && !stops) {
      obeyStrategy();
    } else {
      starts.keep(Collections.emptySet());
    }
    if (standing == Standing.FREEZE && unanswered != null) {
      answer();
    }
  }

  private void obeyStrategy() {
    Set<MessageQueue> wanted = held.wanted();
    starts.keep(wanted);
    for (HeldQueue work : held.all()) {
      if (!wanted.contains(work.queue) && !work.stopping) {
        turns.stop(work, false);
      }
    }
    for (MessageQueue queue : wanted) {
      if (held.at(queue) != null) {
        continue;
      }
      Long start = starts.take(queue);
      if (start != null) {
        QueueName name = new QueueName(queue.getTopic(), queue.getBrokerName(), queue.getQueueId());
        turns.start(new WorkName(name, NOBODY), start);
      } else if (QueueTurns.nowMs() >= nextTryMs.getOrDefault(queue, 0L)) {
        ask(queue);
      }
    }
  }

  private void ask(MessageQueue queue) {
    Consumer<Long> told = starts.ask(queue);
    if (told == null) {
      return;
    }
    nextTryMs.put(queue, QueueTurns.nowMs() + RETRY_MS);
    errands.run(
        () -> {
          long start = -1;
          try {
            start = rocketmq.start(queue);
          } finally {
            told.accept(start);
          }
        });
  }

  private void answer() {
    boolean isQuiet = true;
    for (HeldQueue work : held.all()) {
      if (!work.adopted && !work.takenAway && !work.stopping) {
        // It waits for its lock: somebody else has it.
        turns.stop(work, false);
      }
      isQuiet &= !work.stopping;
    }
    if (!isQuiet) {
      return;
    }
    Map<QueueName, Long> frozen = new HashMap<>();
    for (HeldQueue work : new HashSet<>(held.all())) {
      work.rename(new WorkName(work.name.queue, unanswered));
      frozen.put(work.name.queue, work.gate.position());
      counters.add(Thing.FROZEN);
    }
    LOG.info("frozen " + unanswered + ": " + frozen);
    member.frozen(unanswered, frozen);
    unanswered = null;
  }
}
