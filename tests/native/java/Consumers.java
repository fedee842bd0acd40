import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.HashMap;
import java.util.Map;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;

/**
 * RocketMQ's own push consumers, led over the standard input: `start NAMESRV GROUP TOPIC NAME` and
 * `stop NAME`; each is answered with a line when it is done.
 */
public final class Consumers {
    public static void main(String[] arguments) throws Exception {
        Map<String, DefaultMQPushConsumer> running = new HashMap<>();
        BufferedReader asked = new BufferedReader(new InputStreamReader(System.in));
        for (String line = asked.readLine(); line != null; line = asked.readLine()) {
            String[] words = line.split(" ");
            if (words[0].equals("start")) {
                DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(words[2]);
                consumer.setNamesrvAddr(words[1]);
                consumer.setInstanceName(words[4]);
                consumer.subscribe(words[3], "*");
                consumer.registerMessageListener(
                        (MessageListenerConcurrently)
                                (messages, context) -> ConsumeConcurrentlyStatus.CONSUME_SUCCESS);
                consumer.start();
                running.put(words[4], consumer);
            } else {
                running.remove(words[1]).shutdown();
            }
            System.out.println("done " + line);
        }
        System.exit(0);
    }
}
