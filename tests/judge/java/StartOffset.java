import com.alibaba.fastjson.JSONObject;
import java.lang.reflect.Proxy;
import java.util.TimeZone;
import org.apache.rocketmq.client.ClientConfig;
import org.apache.rocketmq.client.consumer.DefaultLitePullConsumer;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.store.OffsetStore;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.impl.MQAdminImpl;
import org.apache.rocketmq.client.impl.consumer.DefaultLitePullConsumerImpl;
import org.apache.rocketmq.client.impl.consumer.DefaultMQPushConsumerImpl;
import org.apache.rocketmq.client.impl.consumer.RebalanceImpl;
import org.apache.rocketmq.client.impl.consumer.RebalanceLitePullImpl;
import org.apache.rocketmq.client.impl.consumer.RebalancePushImpl;
import org.apache.rocketmq.client.impl.factory.MQClientInstance;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.MessageQueue;

/** Where the real consumers start a queue, with an offset store and brokers that answer the case. */
final class StartOffset {
    private static final Asked CLIENT = new Asked();

    private StartOffset() {
    }

    static JSONObject compute(JSONObject asked) {
        TimeZone before = TimeZone.getDefault();
        TimeZone.setDefault(TimeZone.getTimeZone(asked.getString("tz")));
        try {
            CLIENT.admin.answers(asked);
            MessageQueue queue = new MessageQueue(asked.getString("topic"), "broker-a", 0);
            JSONObject written = new JSONObject(true);
            written.put("offset", consumer(asked).computePullFromWhere(queue));
            written.put("searched_timestamp_ms", CLIENT.admin.searched);
            return written;
        } finally {
            TimeZone.setDefault(before);
        }
    }

    private static RebalanceImpl consumer(JSONObject asked) {
        ConsumeFromWhere from = ConsumeFromWhere.valueOf(asked.getString("consume_from"));
        RebalanceImpl rebalance;
        if (asked.getString("consumer").equals("push")) {
            DefaultMQPushConsumer consumer = new DefaultMQPushConsumer("judge");
            consumer.setConsumeFromWhere(from);
            consumer.setConsumeTimestamp(asked.getString("consume_timestamp"));
            DefaultMQPushConsumerImpl inside = new DefaultMQPushConsumerImpl(consumer, null);
            Forms.set(inside, "offsetStore", store(asked.getLongValue("stored")));
            rebalance = new RebalancePushImpl(inside);
        } else {
            DefaultLitePullConsumer consumer = new DefaultLitePullConsumer("judge");
            // Its setter refuses the deprecated names, which the class itself handles.
            Forms.set(consumer, "consumeFromWhere", from);
            consumer.setConsumeTimestamp(asked.getString("consume_timestamp"));
            DefaultLitePullConsumerImpl inside = new DefaultLitePullConsumerImpl(consumer, null);
            Forms.set(inside, "offsetStore", store(asked.getLongValue("stored")));
            rebalance = new RebalanceLitePullImpl(inside);
        }
        rebalance.setmQClientFactory(CLIENT);
        return rebalance;
    }

    /** The interface has one method more in line 5, so it is not implemented by a class. */
    private static OffsetStore store(long stored) {
        return (OffsetStore) Proxy.newProxyInstance(
            StartOffset.class.getClassLoader(),
            new Class<?>[] {OffsetStore.class},
            (proxy, method, arguments) -> {
                if (!method.getName().equals("readOffset")) {
                    throw new UnsupportedOperationException(method.getName());
                }
                return stored;
            });
    }

    private static final class Asked extends MQClientInstance {
        private final Brokers admin = new Brokers(this);

        private Asked() {
            super(new ClientConfig(), 0, "judge");
        }

        @Override
        public MQAdminImpl getMQAdminImpl() {
            return admin;
        }
    }

    private static final class Brokers extends MQAdminImpl {
        private Long max;
        private Long search;
        private Long searched;

        private Brokers(MQClientInstance client) {
            super(client);
        }

        private void answers(JSONObject asked) {
            max = asked.getLong("max");
            search = asked.getLong("search");
            searched = null;
        }

        @Override
        public long maxOffset(MessageQueue queue) throws MQClientException {
            return told(max);
        }

        @Override
        public long searchOffset(MessageQueue queue, long timestamp) throws MQClientException {
            searched = timestamp;
            return told(search);
        }

        private static long told(Long answer) throws MQClientException {
            if (answer == null) {
                throw new MQClientException("The broker[broker-a] not exist", null);
            }
            return answer;
        }
    }
}
