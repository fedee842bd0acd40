package io.fairlead.rocketmq;

import io.fairlead.client.session.Epoch;
import io.fairlead.client.session.QueueName;
import io.fairlead.client.session.WorkName;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.rocketmq.common.message.MessageDecoder;
import org.apache.rocketmq.common.message.MessageExt;

/**
 * Does without effect what the first queue needs, while the member joins: Java loads a class, and
 * RocketMQ makes a codec, at their first use, and a queue that moves would stand still for that.
 */
final class Rehearsal {
  private static final Logger LOG = Logger.getLogger("io.fairlead.rocketmq");

  private Rehearsal() {}

  static void run(RocketMQ rocketmq) {
    try {
      handle();
      if (rocketmq.ordered()) {
        rocketmq.lockNothing();
      }
      rocketmq.fetchNothing();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    } catch (Exception error) {
      LOG.log(Level.FINE, "the first queue takes longer", error);
    }
  }

  /** Hands one message out of a queue that nobody has. */
  static void handle() throws Exception {
    WorkName name = new WorkName(new QueueName("nothing", "nowhere", 0), new Epoch(0, 0));
    HeldQueue work = new HeldQueue(name, 0, any -> true, () -> {}, new QueueObserver() {});
    List<MessageExt> messages = MessageDecoder.decodes(ByteBuffer.wrap(message()));
    work.messages.putMessage(messages);
    List<Long> taken = HeldQueue.offsets(messages);
    if (work.gate.enter(taken)) {
      work.leave(taken, Collections.emptyList());
    }
    work.gate.close();
  }

  private static byte[] message() throws Exception {
    MessageExt message = new MessageExt();
    message.setTopic("nothing");
    message.setBody(new byte[1]);
    message.setBornHost(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    message.setStoreHost(message.getBornHost());
    return MessageDecoder.encode(message, false);
  }
}
