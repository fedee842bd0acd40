package io.fairlead.rocketmq;

import static io.fairlead.rocketmq.Rules.same;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import org.apache.rocketmq.client.consumer.AllocateMessageQueueStrategy;
import org.apache.rocketmq.common.message.MessageQueue;

/** The rules of what a member that stands by wants to hold. */
final class HeldChecks {
  private static final MessageQueue FIRST = new MessageQueue("orders", "broker-a", 0);
  private static final MessageQueue SECOND = new MessageQueue("orders", "broker-a", 1);
  private static final List<MessageQueue> BOTH = Arrays.asList(FIRST, SECOND);

  private final HeldQueues held = new HeldQueues(new InTurns());

  void ruleRocketMqsStrategySaysWhatIsWanted() {
    held.allocate("g", "a", BOTH, Collections.singletonList("a"));
    same(new HashSet<>(BOTH), held.wanted());
  }

  void ruleAShareFromBeforeTheWayBackIsForgotten() {
    held.allocate("g", "a", BOTH, Collections.singletonList("a"));
    held.wantWhatIsHeld();
    same(Collections.emptySet(), held.wanted());
    held.allocate("g", "a", BOTH, Arrays.asList("a", "b"));
    same(Collections.singleton(FIRST), held.wanted());
  }

  void ruleItSaysWhichStrategyDecides() {
    same(true, held.toString().contains("InTurns"));
    same(false, new HeldQueues(null).toString().contains("InTurns"));
  }

  /** Deals the queues to the clients in turns. */
  private static final class InTurns implements AllocateMessageQueueStrategy {
    @Override
    public List<MessageQueue> allocate(
        String group, String clientId, List<MessageQueue> queues, List<String> clients) {
      List<MessageQueue> share = new ArrayList<>();
      for (int at = clients.indexOf(clientId); at < queues.size(); at += clients.size()) {
        share.add(queues.get(at));
      }
      return share;
    }

    @Override
    public String getName() {
      return "IN_TURNS";
    }
  }
}
