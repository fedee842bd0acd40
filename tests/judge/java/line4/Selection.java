import com.alibaba.fastjson.JSONArray;
import com.alibaba.fastjson.JSONObject;
import java.lang.reflect.Proxy;
import java.util.Map;
import org.apache.rocketmq.client.impl.producer.TopicPublishInfo;
import org.apache.rocketmq.client.latency.LatencyFaultTolerance;
import org.apache.rocketmq.client.latency.MQFaultStrategy;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.common.protocol.route.TopicRouteData;

/** The queues that the real producer of line 4 selects, and how long it avoids a broker. */
final class Selection {
    private Selection() {
    }

    static JSONArray select(JSONObject asked) {
        TopicPublishInfo info = info(asked);
        MQFaultStrategy strategy = new MQFaultStrategy();
        JSONArray written = new JSONArray();
        JSONArray last = asked.getJSONArray("last_brokers");
        for (int call = 0; call < last.size(); call++) {
            MessageQueue queue = strategy.selectOneMessageQueue(info, last.getString(call));
            JSONArray one = new JSONArray();
            one.add(Forms.written(queue));
            one.add(index(info.getSendWhichQueue()).get());
            written.add(one);
        }
        return written;
    }

    /** The duration that the strategy tells its table, which here only listens. */
    static Object notAvailable(JSONObject asked) {
        Object[] told = new Object[1];
        MQFaultStrategy strategy = new MQFaultStrategy();
        strategy.setSendLatencyFaultEnable(true);
        Forms.set(strategy, "latencyFaultTolerance", Proxy.newProxyInstance(
            Selection.class.getClassLoader(),
            new Class<?>[] {LatencyFaultTolerance.class},
            (proxy, method, arguments) -> {
                told[0] = arguments[2];
                return null;
            }));
        strategy.updateFaultItem(
            "b", asked.getLongValue("latency_ms"), asked.getBooleanValue("isolation"));
        return told[0];
    }

    /**
     * Updates and questions in turn. Time is moved by moving what the table holds, hours at a time,
     * so that the moments which pass meanwhile decide nothing.
     */
    static JSONArray sequence(JSONObject asked) {
        MQFaultStrategy strategy = new MQFaultStrategy();
        strategy.setSendLatencyFaultEnable(true);
        long[] durations = strategy.getNotAvailableDuration().clone();
        for (int at = 0; at < durations.length; at++) {
            durations[at] *= asked.getLongValue("scale");
        }
        strategy.setNotAvailableDuration(durations);
        Object table = Forms.get(strategy, "latencyFaultTolerance");
        ThreadLocal<Integer> worst = index(Forms.get(table, "whichItemWorst"));
        worst.set(asked.getIntValue("worst_index"));
        TopicPublishInfo info = info(asked);
        JSONArray written = new JSONArray();
        for (Object each : asked.getJSONArray("steps")) {
            written.add(step((JSONArray) each, asked, strategy, info, worst));
        }
        return written;
    }

    @SuppressWarnings("unchecked")
    private static Object step(
        JSONArray step, JSONObject asked, MQFaultStrategy strategy, TopicPublishInfo info,
        ThreadLocal<Integer> worst) {
        Object table = Forms.get(strategy, "latencyFaultTolerance");
        switch (step.getString(0)) {
            case "update":
                strategy.updateFaultItem(
                    step.getString(1), step.getLongValue(2), step.getBooleanValue(3));
                return null;
            case "remove":
                ((LatencyFaultTolerance<String>) table).remove(step.getString(1));
                return null;
            case "advance":
                for (Object item : ((Map<?, ?>) Forms.get(table, "faultItemTable")).values()) {
                    long start = (Long) Forms.get(item, "startTimestamp");
                    Forms.set(item, "startTimestamp", start - step.getLongValue(1));
                }
                return null;
            case "available":
                return ((LatencyFaultTolerance<String>) table).isAvailable(step.getString(1));
            case "select":
                // A fresh list each time: up to 4.9.7 the strategy writes into it.
                info.setMessageQueueList(Forms.queues(asked.getJSONArray("queues")));
                JSONArray one = new JSONArray();
                one.add(Forms.written(strategy.selectOneMessageQueue(info, step.getString(1))));
                one.add(index(info.getSendWhichQueue()).get());
                one.add(worst.get());
                return one;
            default:
                throw new UnsupportedOperationException("step " + step.getString(0));
        }
    }

    private static TopicPublishInfo info(JSONObject asked) {
        TopicPublishInfo info = new TopicPublishInfo();
        info.setMessageQueueList(Forms.queues(asked.getJSONArray("queues")));
        info.setTopicRouteData((TopicRouteData) Routes.decoded(asked.get("route")));
        index(info.getSendWhichQueue()).set(asked.getIntValue("start_index"));
        return info;
    }

    @SuppressWarnings("unchecked")
    private static ThreadLocal<Integer> index(Object threadLocalIndex) {
        return (ThreadLocal<Integer>) Forms.get(threadLocalIndex, "threadLocalIndex");
    }
}
