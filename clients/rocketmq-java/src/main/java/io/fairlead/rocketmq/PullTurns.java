package io.fairlead.rocketmq;

import io.fairlead.client.GatewayMember;
import io.fairlead.client.MemberSettings;
import io.fairlead.client.session.Action;
import io.fairlead.client.session.Subscription;
import io.fairlead.client.session.ThinState;
import io.fairlead.client.session.WorkName;
import io.fairlead.rocketmq.Counters.Thing;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * Adopts and releases the queues of a lite pull consumer, on one daemon thread. Whoever polls holds
 * this object's lock for a moment; between two polls queues come and go.
 */
final class PullTurns {
  private static final Logger LOG = Logger.getLogger("io.fairlead.rocketmq");
  private static final long LOOK_MS = 50;
  private static final long RETRY_MS = 500;

  private final FairleadLitePullConsumer.Feed feed;
  private final HeldQueues held;
  private final GrantedOffsets offsets;
  private final Counters counters;
  private final Options options;
  private final BlockingQueue<Runnable> inbox = new LinkedBlockingQueue<>();
  private Thread control;
  private GatewayMember member;
  private volatile boolean closing;

  PullTurns(
      FairleadLitePullConsumer.Feed feed,
      HeldQueues held,
      GrantedOffsets offsets,
      Counters counters,
      Options options) {
    this.feed = feed;
    this.held = held;
    this.offsets = offsets;
    this.counters = counters;
    this.options = options;
  }

  void begin(MemberSettings.Builder settings, List<Subscription> topics, ConsumeFromWhere from) {
    topics.forEach(settings::topic);
    if (from == ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET) {
      settings.consumeFrom("first_offset");
    }
    member = new GatewayMember(settings.build(), action -> inbox.add(() -> obey(action)));
    member.start();
    control = new Thread(this::run, "fairlead-rocketmq-pull");
    control.setDaemon(true);
    control.start();
  }

  /** Gives everything up and leaves. */
  void close(long timeoutMs) {
    closing = true;
    try {
      control.join(timeoutMs);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
    member.halt();
  }

  boolean mayWork(HeldQueue work) {
    return work.kept || work.name.epoch.equals(member.works(work.name.queue));
  }

  private void run() {
    boolean leaving = false;
    try {
      while (member.closed() == null) {
        if (closing && !leaving) {
          leaving = true;
          // Whoever closes it does not poll meanwhile.
          member.leave(0);
        }
        Runnable next = inbox.poll(LOOK_MS, TimeUnit.MILLISECONDS);
        while (next != null) {
          next.run();
          next = inbox.poll();
        }
        held.all().forEach(this::look);
      }
      LOG.info("closed: " + member.closed());
    } catch (InterruptedException | RuntimeException error) {
      LOG.log(Level.SEVERE, "the control thread ends; the lease will end", error);
    } finally {
      held.all().forEach(work -> work.gate.close());
      member.halt();
    }
  }

  private void obey(Action action) {
    if (action instanceof Action.StartWork) {
      Action.StartWork start = (Action.StartWork) action;
      HeldQueue work = held(start.name, start.offset);
      HeldQueue before = held.at(work.queue);
      if (before != null) {
        before.gate.abandon();
        work.former = before;
      }
      held.put(work);
    } else if (action instanceof Action.StopWork) {
      stop(((Action.StopWork) action).name, false);
    } else if (action instanceof Action.Abandon) {
      stop(((Action.Abandon) action).name, true);
    } else if (action instanceof Action.StopAll) {
      Action.StopAll stop = (Action.StopAll) action;
      boolean isKept = options.keeps && stop.reason.equals("lease_ended") && !closing;
      for (WorkName name : stop.work) {
        if (isKept) {
          keep(name);
        } else {
          stop(name, true);
        }
      }
    }
  }

  private HeldQueue held(WorkName name, long offset) {
    HeldQueue work =
        new HeldQueue(name, offset, this::mayWork, () -> inbox.add(() -> {}), options.observer);
    work.pulled = true;
    return work;
  }

  private void keep(WorkName name) {
    for (HeldQueue work : held.all()) {
      if (work.name.equals(name) && !work.stopping) {
        work.kept = true;
        counters.add(Thing.KEPT);
        LOG.warning(name + " is kept without a lease; another member may read it as well");
      }
    }
    member.stopped(name, null, null);
  }

  private void stop(WorkName name, boolean lost) {
    for (HeldQueue work : held.all()) {
      if (work.name.equals(name) && !work.kept) {
        if (lost) {
          work.gate.abandon();
          counters.add(Thing.LOST);
          LOG.warning(name + " is lost, with " + work.gate.inside() + " batches in hand");
        }
        work.gate.close();
        work.stopping = true;
        work.lost |= lost;
        return;
      }
    }
    member.stopped(name, null, null);
  }

  private void look(HeldQueue work) {
    if (work.kept && member.state() == ThinState.POLLING) {
      work.gate.abandon();
      work.stopping = true;
    }
    if (work.stopping) {
      release(work);
    } else if (!work.adopted) {
      adopt(work);
    } else if (work.gate.mayRelease() && mayWork(work)) {
      counters.add(Thing.TAKEN_AWAY);
      LOG.warning(work.name + " is fetched again: its messages did not come in their order");
      beginAgain(work, work.gate.position());
    }
    long position = work.gate.position();
    if (position != work.reported && !work.kept) {
      work.reported = position;
      member.progressed(work.name, position, null);
    }
  }

  private void adopt(HeldQueue work) {
    boolean isBusy = work.former != null && work.former.gate.inside() > 0;
    if (isBusy || QueueTurns.nowMs() < work.nextTryMs) {
      return;
    }
    work.nextTryMs = QueueTurns.nowMs() + RETRY_MS;
    if (work.former != null) {
      work.former.tellStopped();
      work.former = null;
    }
    try {
      long from = feed.inBounds(work.queue, work.gate.position());
      if (from != work.gate.position()) {
        counters.add(Thing.TAKEN_AWAY);
        LOG.warning(work.name + " begins at " + from + ": the broker has nothing at its position");
        beginAgain(work, from);
        return;
      }
      synchronized (this) {
        work.tellStarted();
        work.adopted = true;
        fetch(work);
      }
      counters.add(Thing.ADOPTED);
      LOG.info("start " + work.name + " at " + from);
    } catch (MQClientException error) {
      LOG.log(Level.WARNING, work.name + " cannot be read yet", error);
    }
  }

  private void beginAgain(HeldQueue work, long from) {
    HeldQueue again = held(work.name, from);
    again.reported = work.reported;
    work.goOn(again, from);
    synchronized (this) {
      held.put(again);
      fetch(work);
    }
  }

  private void fetch(HeldQueue changed) {
    feed.fetch(assigned(), changed.queue.getTopic());
  }

  private Set<MessageQueue> assigned() {
    Set<MessageQueue> all = new HashSet<>();
    for (HeldQueue work : held.all()) {
      if (work.adopted) {
        all.add(work.queue);
      }
    }
    return all;
  }

  private void release(HeldQueue work) {
    if (!work.gate.mayRelease()) {
      return;
    }
    if (!work.lost && !work.kept && work.adopted) {
      offsets.commit(work);
    }
    synchronized (this) {
      held.remove(work);
      fetch(work);
    }
    long position = work.gate.position();
    counters.add(Thing.RELEASED);
    LOG.info("stop " + work.name + " at " + position);
    work.tellStopped();
    member.stopped(work.name, work.lost || work.kept ? null : (Long) position, null);
  }
}
