package io.fairlead.rocketmq;

import static io.fairlead.rocketmq.Rules.same;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** How long an attached consumer that ends works on. */
final class LeaveChecks {
  private final List<Long> said = new ArrayList<>();
  private final Leaving leaving = new Leaving(3_000, said::add);

  void ruleAConsumerThatRunsStays() {
    same(false, leaving.look(false, true));
    same(Arrays.asList(), said);
  }

  void ruleACloseHandsOver() {
    same(true, leaving.look(true, true));
    same(false, leaving.look(true, true));
    same(Arrays.asList(3_000L), said);
  }

  void ruleAShutdownStopsAtOnce() {
    same(true, leaving.look(false, false));
    same(false, leaving.look(true, false));
    same(Arrays.asList(0L), said);
  }

  void ruleAShutdownHurriesAClose() {
    same(true, leaving.look(true, true));
    same(false, leaving.look(true, false));
    same(false, leaving.look(true, false));
    same(Arrays.asList(3_000L, 0L), said);
  }
}
