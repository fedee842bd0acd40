package io.fairlead.rocketmq;

import io.fairlead.client.GatewayMember;
import io.fairlead.client.MemberSettings;
import io.fairlead.client.session.Action;
import io.fairlead.client.session.Subscription;
import io.fairlead.client.session.WorkName;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.logging.Level;
import java.util.logging.Logger;
import javax.management.JMException;
import javax.management.ObjectName;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.common.ServiceState;
import org.apache.rocketmq.common.UtilAll;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.MessageQueue;

/** A consumer that is attached. One daemon thread does what the gateway says. */
public final class Attached implements AutoCloseable, AttachedMXBean {
  private static final Logger LOG = Logger.getLogger("io.fairlead.rocketmq");
  private static final long LOOK_MS = 50;
  private static final long CLOSE_MS = 30_000;

  private final DefaultMQPushConsumer consumer;
  private final Options options;
  private final RocketMQ rocketmq;
  private final Counters counters;
  private final Consumer<HeldQueue> drain;
  private final String strategy;
  private final Supplier<String> replaced;
  private final BlockingQueue<Runnable> inbox = new LinkedBlockingQueue<>();
  private final Thread control;
  private final Thread atExit = new Thread(this::leave, "fairlead-rocketmq-exit");
  private final HeldQueues held;
  private final GrantedOffsets offsets;
  private volatile QueueTurns turns;
  private ObjectName shown;
  private volatile GatewayMember member;
  private volatile boolean closing;
  private volatile String refusal;

  Attached(
      DefaultMQPushConsumer consumer,
      Options options,
      RocketMQ rocketmq,
      HeldQueues held,
      GrantedOffsets offsets,
      Counters counters,
      Consumer<HeldQueue> drain,
      String strategy,
      Supplier<String> replaced) {
    this.consumer = consumer;
    this.options = options;
    this.rocketmq = rocketmq;
    this.held = held;
    this.offsets = offsets;
    this.counters = counters;
    this.drain = drain;
    this.strategy = strategy;
    this.replaced = replaced;
    control = new Thread(this::run, "fairlead-rocketmq-" + consumer.getConsumerGroup());
    control.setDaemon(true);
  }

  void begin() {
    try {
      // RocketMQ's shutdown() does not wait for the control thread, and the process ends.
      Runtime.getRuntime().addShutdownHook(atExit);
    } catch (IllegalStateException ending) {
      LOG.log(Level.FINE, "the process ends already", ending);
    }
    control.start();
  }

  /** Returns how often each thing has happened. */
  public Counters counters() {
    return counters;
  }

  @Override
  public Map<String, Long> getCounts() {
    return counters.all();
  }

  @Override
  public List<String> getQueues() {
    List<String> result = new ArrayList<>();
    held.all().forEach(work -> result.add(work.name + " at " + work.gate.position()));
    Collections.sort(result);
    return result;
  }

  @Override
  public String getState() {
    GatewayMember asked = member;
    return asked == null ? "STARTING" : asked.state().name();
  }

  @Override
  public String getLastFailure() {
    String failure = lastFailure();
    return failure == null ? "" : failure;
  }

  /** Returns why the last request to the gateway failed; null if it did not. */
  public String lastFailure() {
    GatewayMember asked = member;
    return asked == null ? refusal : asked.lastFailure();
  }

  /**
   * Returns whether the messages of this queue that a listener has in hand are still the member's. A
   * process that stood still may ask before its work has an effect outside.
   */
  public boolean mayWork(MessageQueue queue) {
    HeldQueue work = held.at(queue);
    return work != null && work.adopted && turns.mayWork(work);
  }

  /**
   * Hands all queues over, leaves the group, and shuts the consumer down; at most 30 s. Listeners
   * work on for {@code handOverMs}, until the engine has named who goes on.
   */
  @Override
  public void close() {
    leave();
    consumer.shutdown();
  }

  /**
   * Leaves; {@code close()} and the shutdown hook call it, at once if both do. Hooks have no order:
   * that of Spring, or of the application, may call RocketMQ's {@code shutdown()} meanwhile. That
   * ends the listeners, and the control thread waits for it before its next look; so the rest is
   * given up then, and nobody works on. All who call it wait for one end, at most {@code CLOSE_MS}.
   */
  private void leave() {
    closing = true;
    inbox.add(() -> {});
    try {
      control.join(CLOSE_MS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void run() {
    try {
      if (!started()) {
        return;
      }
      String changed = replaced.get();
      if (changed != null) {
        refusal = changed + " was set after attach: nothing is consumed; set it before";
        LOG.severe(refusal);
        return;
      }
      turns = new QueueTurns(rocketmq, held, offsets, counters, inbox, drain, options);
      MemberSettings settings = settings();
      member = new GatewayMember(settings, this::hear);
      turns.begin(member);
      member.start();
      show();
      // Half of the time stays for the calls that are under way then.
      Leaving leaving = new Leaving(Math.min(settings.handOverMs(), CLOSE_MS / 2), member::leave);
      while (member.closed() == null) {
        if (leaving.look(closing, rocketmq.state() == ServiceState.RUNNING)) {
          LOG.info("the consumer ends: its queues are given up");
        }
        Runnable next = inbox.poll(LOOK_MS, TimeUnit.MILLISECONDS);
        while (next != null) {
          next.run();
          next = inbox.poll();
        }
        turns.take(rocketmq.state() == ServiceState.RUNNING);
      }
      LOG.info("closed: " + member.closed());
    } catch (InterruptedException | RuntimeException error) {
      LOG.log(Level.SEVERE, "the control thread ends; the lease will end", error);
    } finally {
      held.all().forEach(work -> work.gate.close());
      if (member != null) {
        member.halt();
        turns.end();
        hide();
      }
      forgetExit();
    }
  }

  private void forgetExit() {
    try {
      Runtime.getRuntime().removeShutdownHook(atExit);
    } catch (IllegalStateException ending) {
      LOG.log(Level.FINE, "the process ends, and waits for this thread", ending);
    }
  }

  private void show() {
    try {
      String group = ObjectName.quote(consumer.getConsumerGroup());
      String client = ObjectName.quote(rocketmq.clientId());
      ObjectName name =
          new ObjectName(
              "io.fairlead.rocketmq:type=Attached,group=" + group + ",client=" + client);
      ManagementFactory.getPlatformMBeanServer().registerMBean(this, name);
      shown = name;
    } catch (JMException | SecurityException error) {
      LOG.log(Level.WARNING, "JMX does not show the consumer", error);
    }
  }

  private void hide() {
    if (shown != null) {
      try {
        ManagementFactory.getPlatformMBeanServer().unregisterMBean(shown);
      } catch (JMException | SecurityException error) {
        LOG.log(Level.WARNING, "JMX goes on showing the consumer", error);
      }
    }
  }

  /** Waits until {@code start()} has returned; false if the consumer ends before. */
  private boolean started() throws InterruptedException {
    ServiceState state = rocketmq.state();
    while (state == ServiceState.CREATE_JUST && !closing) {
      Thread.sleep(LOOK_MS);
      state = rocketmq.state();
    }
    return state == ServiceState.RUNNING;
  }

  private MemberSettings settings() {
    MemberSettings.Builder builder = options.member(rocketmq.clientId(), strategy);
    builder.group(consumer.getConsumerGroup()).ordered(rocketmq.ordered());
    builder.clientId(options.clientId != null ? options.clientId : rocketmq.clientId());
    for (Subscription each : rocketmq.subscriptions()) {
      builder.topic(each);
    }
    ConsumeFromWhere from = consumer.getConsumeFromWhere();
    if (from == ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET) {
      builder.consumeFrom("first_offset");
    } else if (from == ConsumeFromWhere.CONSUME_FROM_TIMESTAMP) {
      String time = consumer.getConsumeTimestamp();
      builder.consumeFrom("timestamp");
      builder.consumeTimestampMs(UtilAll.parseDate(time, UtilAll.YYYYMMDDHHMMSS).getTime());
    }
    return builder.build();
  }

  /** Hears an action while the member's session stands still. */
  private void hear(Action action) {
    if (action instanceof Action.StartWork && ((Action.StartWork) action).former) {
      // At once: a call that comes between the grant and its name would find no lease.
      turns.following.goOn(((Action.StartWork) action).name);
    }
    inbox.add(() -> obey(action));
  }

  private void obey(Action action) {
    if (action instanceof Action.StartWork) {
      Action.StartWork start = (Action.StartWork) action;
      if (start.former) {
        turns.goOn(start.name, start.offset);
      } else {
        turns.start(start.name, start.offset);
      }
    } else if (action instanceof Action.Follow) {
      turns.following.follow();
    } else if (action instanceof Action.Freeze) {
      turns.following.freeze(((Action.Freeze) action).epoch);
    } else if (action instanceof Action.StopFollowing) {
      turns.following.stop(false);
    } else if (action instanceof Action.StopWork) {
      turns.stop(((Action.StopWork) action).name, false);
    } else if (action instanceof Action.Abandon) {
      turns.stop(((Action.Abandon) action).name, true);
    } else if (action instanceof Action.StopAll) {
      Action.StopAll stop = (Action.StopAll) action;
      boolean isKept = options.keeps && stop.reason.equals("lease_ended") && !closing;
      if (isKept) {
        turns.keepAll(stop.work);
        return;
      }
      for (WorkName name : stop.work) {
        turns.stop(name, true);
      }
      if (options.standsBy) {
        turns.following.stop(true);
      }
    }
  }
}
