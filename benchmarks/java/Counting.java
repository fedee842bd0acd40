import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;

/**
 * Reads a whole topic with RocketMQ's own push consumer, and prints messages a second and messages a
 * processor second, from the first message to the last.
 */
final class Counting {
    private Counting() {}

    public static void main(final String[] args) throws Exception {
        final long total = Long.parseLong(args[3]);
        final int bytes = Integer.parseInt(args[4]);
        final int threads = Integer.parseInt(args[5]);
        final int batch = Integer.parseInt(args[6]);
        final OperatingSystemMXBean machine =
                (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        final AtomicLong seen = new AtomicLong();
        final AtomicLong begunNanos = new AtomicLong();
        final AtomicLong begunCpu = new AtomicLong();
        final CountDownLatch over = new CountDownLatch(1);
        final DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(args[1]);
        consumer.setNamesrvAddr(args[0]);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.setConsumeThreadMin(threads);
        consumer.setConsumeThreadMax(threads);
        consumer.setConsumeMessageBatchMaxSize(batch);
        consumer.subscribe(args[2], "*");
        consumer.registerMessageListener(
                (MessageListenerConcurrently)
                        (messages, context) -> {
                            if (begunNanos.compareAndSet(0, System.nanoTime())) {
                                begunCpu.set(machine.getProcessCpuTime());
                            }
                            messages.forEach(
                                    each -> {
                                        if (each.getBody().length != bytes) {
                                            throw new IllegalStateException("another body");
                                        }
                                    });
                            if (seen.addAndGet(messages.size()) >= total) {
                                over.countDown();
                            }
                            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
                        });
        consumer.start();
        final boolean all = over.await(120, TimeUnit.SECONDS);
        final double seconds = (System.nanoTime() - begunNanos.get()) / 1e9;
        final double processor = (machine.getProcessCpuTime() - begunCpu.get()) / 1e9;
        System.out.println(all ? total / seconds + " " + total / processor : "late " + seen.get());
        Runtime.getRuntime().halt(all ? 0 : 1);
    }
}
