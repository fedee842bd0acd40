package io.fairlead.rocketmq;

import static io.fairlead.rocketmq.Rules.same;

import io.fairlead.rocketmq.gate.QueueGate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** The rules of the gate, each a method. */
final class GateChecks {
  private static final List<Long> NONE = Collections.emptyList();

  private final AtomicBoolean leased = new AtomicBoolean(true);
  private final AtomicBoolean dropped = new AtomicBoolean();
  private final AtomicInteger quiet = new AtomicInteger();
  private final QueueGate gate =
      new QueueGate(100, leased::get, () -> dropped.set(true), quiet::incrementAndGet);

  void ruleItBeginsAtTheGrantedOffset() {
    same(100L, gate.position());
    gate.fetched(offsets(98, 99, 100));
    same(false, gate.enter(offsets(99)));
  }

  void ruleItBeginsWhereItsLockSays() {
    gate.beginAt(103);
    same(103L, gate.position());
    gate.fetched(offsets(102, 103));
    same(false, gate.enter(offsets(102)));
  }

  void ruleAReleaseWaitsForWhoIsInside() {
    gate.fetched(offsets(100, 101));
    same(true, gate.enter(offsets(100)));
    gate.close();
    same(false, gate.mayRelease());
    same(0, quiet.get());
    gate.leave(offsets(100), NONE);
    same(true, gate.mayRelease());
    same(1, quiet.get());
  }

  void ruleAnOpenGateIsNotReleased() {
    same(false, gate.mayRelease());
  }

  void ruleAClosedGateLetsNobodyIn() {
    gate.fetched(offsets(100));
    gate.close();
    same(true, dropped.get());
    same(false, gate.enter(offsets(100)));
    same(100L, gate.position());
  }

  void ruleWhoIsRefusedFindsTheQueueDropped() throws Exception {
    AtomicBoolean wasDropped = new AtomicBoolean(true);
    QueueGate[] made = new QueueGate[1];
    Thread[] other = new Thread[1];
    Runnable drop =
        () -> {
          other[0] =
              new Thread(
                  () -> {
                    made[0].enter(offsets(100));
                    wasDropped.set(dropped.get());
                  });
          other[0].start();
          // It cannot come to an end before this critical section does.
          join(other[0], 300);
          dropped.set(true);
        };
    made[0] = new QueueGate(100, () -> true, drop, () -> {});
    made[0].fetched(offsets(100));
    made[0].close();
    join(other[0], 10_000);
    same(true, wasDropped.get());
  }

  void ruleALeaseThatIsOverClosesTheGate() {
    gate.fetched(offsets(100));
    leased.set(false);
    same(false, gate.enter(offsets(100)));
    same(true, dropped.get());
    leased.set(true);
    same(false, gate.enter(offsets(100)));
  }

  void ruleWhatEndsAfterTheDropIsFinished() {
    gate.fetched(offsets(100, 101, 102));
    same(true, gate.enter(offsets(100)));
    same(true, gate.enter(offsets(101)));
    gate.close();
    gate.leave(offsets(101), NONE);
    same(100L, gate.position());
    gate.leave(offsets(100), NONE);
    same(102L, gate.position());
  }

  void ruleWhatFailsComesAgain() {
    gate.fetched(offsets(100, 101));
    same(true, gate.enter(offsets(100, 101)));
    gate.leave(offsets(100), offsets(101));
    same(101L, gate.position());
    same(true, gate.enter(offsets(101)));
  }

  void ruleNoMessageBeginsTwice() {
    gate.fetched(offsets(100, 101));
    same(true, gate.enter(offsets(100)));
    same(false, gate.enter(offsets(100)));
    same(true, dropped.get());
  }

  void ruleAFinishedMessageDoesNotBegin() {
    gate.fetched(offsets(100, 101));
    same(true, gate.enter(offsets(100)));
    gate.leave(offsets(100), NONE);
    same(false, gate.enter(offsets(100)));
  }

  void ruleWhatTheTagsLeaveOutIsPassed() {
    gate.fetched(offsets(103, 107));
    same(103L, gate.position());
    same(true, gate.enter(offsets(103)));
    gate.leave(offsets(103), NONE);
    same(107L, gate.position());
    same(true, gate.enter(offsets(107)));
    gate.leave(offsets(107), NONE);
    same(108L, gate.position());
    gate.passed(150);
    same(150L, gate.position());
  }

  void ruleWhatIsInHandIsNotPassed() {
    gate.fetched(offsets(100, 101));
    same(true, gate.enter(offsets(101)));
    gate.passed(150);
    same(101L, gate.position());
    gate.leave(offsets(101), NONE);
    same(150L, gate.position());
  }

  void ruleAClosedGateIsNotToldMore() {
    gate.fetched(offsets(100, 101));
    gate.close();
    gate.passed(150);
    same(100L, gate.position());
  }

  void ruleWhatAClosingGateLeftOutIsProcessedBeforeARelease() {
    gate.fetched(offsets(100, 101, 102, 103));
    same(true, gate.enter(offsets(102)));
    gate.close();
    gate.leave(offsets(102), NONE);
    same(false, gate.mayRelease());
    same(100L, gate.enterGap());
    same(101L, gate.enterGap());
    same(true, gate.enterGap() == null);
    gate.leave(offsets(100, 101), NONE);
    gate.leave(NONE, NONE);
    same(true, gate.mayRelease());
    same(103L, gate.position());
  }

  void ruleAGapIsTriedOnce() {
    gate.fetched(offsets(100, 101));
    same(true, gate.enter(offsets(101)));
    gate.leave(offsets(101), NONE);
    gate.close();
    same(100L, gate.enterGap());
    gate.leave(NONE, offsets(100));
    same(true, gate.mayRelease());
    same(100L, gate.position());
  }

  void ruleALostQueueLeavesItsGaps() {
    gate.fetched(offsets(100, 101));
    same(true, gate.enter(offsets(101)));
    gate.abandon();
    gate.leave(offsets(101), NONE);
    same(true, gate.enterGap() == null);
    same(true, gate.mayRelease());
  }

  private static List<Long> offsets(long... offsets) {
    List<Long> result = new ArrayList<>();
    Arrays.stream(offsets).forEach(result::add);
    return result;
  }

  private static void join(Thread thread, long timeoutMs) {
    try {
      thread.join(timeoutMs);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
