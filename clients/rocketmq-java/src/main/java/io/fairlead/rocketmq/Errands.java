package io.fairlead.rocketmq;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.logging.Level;
import java.util.logging.Logger;

/** What waits for a broker or a listener, done by other threads. Each wakes the control thread. */
final class Errands {
  private static final Logger LOG = Logger.getLogger("io.fairlead.rocketmq");

  private final ExecutorService atOnce = Executors.newCachedThreadPool(daemons());
  private final ExecutorService inOrder = Executors.newSingleThreadExecutor(daemons());
  private final Runnable wake;

  Errands(Runnable wake) {
    this.wake = wake;
  }

  private static ThreadFactory daemons() {
    return work -> {
      Thread thread = new Thread(work, "fairlead-rocketmq-errand");
      thread.setDaemon(true);
      return thread;
    };
  }

  /** Does something for a queue; nothing else is done for it meanwhile. */
  void run(HeldQueue work, Runnable errand) {
    work.errand = true;
    begin(
        atOnce,
        () -> {
          try {
            errand.run();
          } finally {
            work.errand = false;
          }
        });
  }

  void run(Runnable errand) {
    begin(atOnce, errand);
  }

  /** Does two things at once, and returns once both are done. */
  void both(Runnable one, Runnable other) {
    CompletableFuture<Void> begun = CompletableFuture.runAsync(one, atOnce);
    other.run();
    begun.join();
  }

  /** Does something after what was given here before. */
  void inOrder(Runnable errand) {
    begin(inOrder, errand);
  }

  void end() {
    atOnce.shutdown();
    inOrder.shutdown();
  }

  private void begin(ExecutorService by, Runnable errand) {
    try {
      by.execute(
          () -> {
            try {
              errand.run();
            } catch (RuntimeException error) {
              LOG.log(Level.WARNING, "RocketMQ did not do what it was asked", error);
            }
            wake.run();
          });
    } catch (RejectedExecutionException ended) {
      LOG.fine("it has ended");
    }
  }
}
