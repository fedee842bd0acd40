package io.fairlead.rocketmq;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyContext;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyContext;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.client.exception.MQBrokerException;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.remoting.exception.RemotingException;

/** The application's listeners behind the gates. */
final class GatedListeners {
  private static final Logger LOG = Logger.getLogger("io.fairlead.rocketmq");
  private static final List<Long> NONE = Collections.emptyList();

  private final HeldQueues held;
  private final RocketMQ rocketmq;
  private final Counters counters;

  GatedListeners(HeldQueues held, RocketMQ rocketmq, Counters counters) {
    this.held = held;
    this.rocketmq = rocketmq;
    this.counters = counters;
  }

  MessageListenerConcurrently concurrent(MessageListenerConcurrently listener) {
    return (messages, context) -> concurrently(listener, messages, context);
  }

  MessageListenerOrderly ordered(MessageListenerOrderly listener) {
    return (messages, context) -> orderly(listener, messages, context);
  }

  /** Returns the queue if its gate let these messages in; null if not, and it is dropped then. */
  private HeldQueue entered(
      org.apache.rocketmq.common.message.MessageQueue queue, List<MessageExt> messages) {
    HeldQueue work = held.at(queue);
    if (work != null && work.gate.enter(HeldQueue.offsets(messages))) {
      return work;
    }
    if (work == null) {
      rocketmq.drop(queue);
    }
    counters.add(Counters.Thing.REFUSED_CALLS);
    LOG.fine(() -> "the gate of " + queue + " refuses " + HeldQueue.offsets(messages));
    return null;
  }

  private ConsumeConcurrentlyStatus concurrently(
      MessageListenerConcurrently listener,
      List<MessageExt> messages,
      ConsumeConcurrentlyContext context) {
    HeldQueue work = entered(context.getMessageQueue(), messages);
    if (work == null) {
      return ConsumeConcurrentlyStatus.RECONSUME_LATER;
    }
    return call(work, listener, messages, context);
  }

  /** Processes what a closed gate has left out; RocketMQ has dropped it. */
  void drain(HeldQueue work, MessageListenerConcurrently listener) {
    for (Long at = work.gate.enterGap(); at != null; at = work.gate.enterGap()) {
      counters.add(Counters.Thing.DRAINED);
      MessageExt message = work.unfinished.get(at);
      if (message == null) {
        work.leave(NONE, Collections.singletonList(at));
        continue;
      }
      List<MessageExt> one = Collections.singletonList(message);
      rocketmq.resetRetry(one);
      call(work, listener, one, new ConsumeConcurrentlyContext(work.queue));
    }
  }

  private ConsumeConcurrentlyStatus call(
      HeldQueue work,
      MessageListenerConcurrently listener,
      List<MessageExt> messages,
      ConsumeConcurrentlyContext context) {
    List<Long> offsets = HeldQueue.offsets(messages);
    int finished = 0;
    try {
      ConsumeConcurrentlyStatus status = null;
      try {
        status = listener.consumeMessage(messages, context);
      } catch (Throwable error) {
        // As RocketMQ: an Error, and what other languages throw unchecked, is a failure as well.
        LOG.log(Level.WARNING, "the listener failed on " + work.queue, error);
      }
      if (status == ConsumeConcurrentlyStatus.CONSUME_SUCCESS) {
        finished = 1 + Math.min(Math.max(context.getAckIndex(), -1), messages.size() - 1);
      }
      // RocketMQ would send nothing back if the queue is dropped from here on.
      finished += sendBack(work, messages.subList(finished, messages.size()), context);
    } finally {
      work.leave(offsets.subList(0, finished), offsets.subList(finished, offsets.size()));
    }
    if (finished == 0) {
      return ConsumeConcurrentlyStatus.RECONSUME_LATER;
    }
    context.setAckIndex(finished - 1);
    return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
  }

  /** Sends messages back in their order, and returns how many; the first failure ends it. */
  private int sendBack(
      HeldQueue work, List<MessageExt> messages, ConsumeConcurrentlyContext context) {
    int sent = 0;
    try {
      for (MessageExt message : messages) {
        int level = context.getDelayLevelWhenNextConsume();
        rocketmq.sendBack(message, level, work.queue.getBrokerName());
        counters.add(Counters.Thing.SENT_BACK);
        long offset = message.getQueueOffset();
        work.observer.passed(work.queue, work.name.epoch, offset, offset + 1, "sent_back");
        sent++;
      }
    } catch (RemotingException | MQBrokerException | MQClientException | RuntimeException error) {
      counters.add(Counters.Thing.FAILED_SEND_BACKS);
      LOG.log(Level.WARNING, "a message of " + work.queue + " stays here", error);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
    return sent;
  }

  private ConsumeOrderlyStatus orderly(
      MessageListenerOrderly listener, List<MessageExt> messages, ConsumeOrderlyContext context) {
    HeldQueue work = entered(context.getMessageQueue(), messages);
    if (work == null) {
      // The queue is dropped, so RocketMQ commits nothing of it; a suspend might send messages back.
      return ConsumeOrderlyStatus.SUCCESS;
    }
    List<Long> offsets = HeldQueue.offsets(messages);
    List<Long> finished = new ArrayList<>();
    List<Long> putBack = new ArrayList<>();
    ConsumeOrderlyStatus status = null;
    try {
      status = listener.consumeMessage(messages, context);
    } catch (Throwable error) {
      LOG.log(Level.WARNING, "the listener failed on " + work.queue, error);
    } finally {
      settle(work, offsets, context.isAutoCommit(), status, finished, putBack);
      work.leave(finished.isEmpty() ? NONE : finished, putBack);
    }
    return status == null ? ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT : status;
  }

  // As ConsumeMessageOrderlyService#processConsumeResult does.
  @SuppressWarnings("deprecation")
  private static void settle(
      HeldQueue work,
      List<Long> offsets,
      boolean autoCommit,
      ConsumeOrderlyStatus status,
      List<Long> finished,
      List<Long> putBack) {
    if (status == null || status == ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT) {
      putBack.addAll(offsets);
    } else if (autoCommit) {
      finished.addAll(offsets);
    } else {
      work.uncommitted.addAll(offsets);
      if (status == ConsumeOrderlyStatus.COMMIT) {
        finished.addAll(work.uncommitted);
        work.uncommitted.clear();
      } else if (status == ConsumeOrderlyStatus.ROLLBACK) {
        putBack.addAll(work.uncommitted);
        work.uncommitted.clear();
      }
    }
  }
}
