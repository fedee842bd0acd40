package io.fairlead.rocketmq;

import static io.fairlead.rocketmq.Rules.same;

import java.util.Collections;
import java.util.function.Consumer;
import org.apache.rocketmq.common.message.MessageQueue;

/** The rules of where a member that follows begins to read. */
final class StartChecks {
  private static final MessageQueue QUEUE = new MessageQueue("orders", "broker-a", 3);

  private final AskedStarts starts = new AskedStarts();

  void ruleAnAnswerIsTakenOnce() {
    Consumer<Long> told = starts.ask(QUEUE);
    same(null, starts.ask(QUEUE));
    same(null, starts.take(QUEUE));
    told.accept(7L);
    same(7L, starts.take(QUEUE));
    same(null, starts.take(QUEUE));
  }

  void ruleWhatRocketMqCannotTellIsAskedAgain() {
    starts.ask(QUEUE).accept(-1L);
    same(null, starts.take(QUEUE));
    starts.ask(QUEUE).accept(7L);
    same(7L, starts.take(QUEUE));
  }

  void ruleAStartFromBeforeTheQueueWasAnothersIsForgotten() {
    starts.ask(QUEUE).accept(7L);
    starts.keep(Collections.emptySet());
    same(null, starts.take(QUEUE));
    starts.ask(QUEUE).accept(9_000L);
    same(9_000L, starts.take(QUEUE));
  }

  void ruleALateAnswerIsNotTakenForANewOne() {
    Consumer<Long> late = starts.ask(QUEUE);
    starts.keep(Collections.emptySet());
    Consumer<Long> told = starts.ask(QUEUE);
    late.accept(7L);
    same(null, starts.take(QUEUE));
    told.accept(9_000L);
    late.accept(7L);
    same(9_000L, starts.take(QUEUE));
  }
}
