import com.alibaba.fastjson.JSON;
import com.alibaba.fastjson.JSONArray;
import com.alibaba.fastjson.JSONObject;
import com.alibaba.fastjson.serializer.SerializerFeature;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import org.apache.rocketmq.client.ClientConfig;
import org.apache.rocketmq.client.impl.factory.MQClientInstance;
import org.apache.rocketmq.client.impl.producer.TopicPublishInfo;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.remoting.protocol.RemotingSerializable;

/**
 * What the real client makes of a topic's route, decoded from its text as the real client decodes it.
 *
 * <p>The route's class has another package in each line, so it is found by name.
 */
final class Routes {
    private static final Class<?> ROUTE = route();
    private static final MQClientInstance CLIENT =
        new MQClientInstance(new ClientConfig(), 0, "judge");

    private Routes() {
    }

    static JSONObject publishInfo(JSONObject asked) {
        TopicPublishInfo info = (TopicPublishInfo) call(
            null,
            method(
                MQClientInstance.class, "topicRouteData2TopicPublishInfo", String.class, ROUTE),
            asked.getString("topic"),
            decoded(asked.get("route")));
        JSONObject written = new JSONObject(true);
        written.put("ordered", info.isOrderTopic());
        written.put("queues", Forms.written(info.getMessageQueueList()));
        return written;
    }

    @SuppressWarnings("unchecked")
    static JSONArray subscribeInfo(JSONObject asked) {
        Set<MessageQueue> found = (Set<MessageQueue>) call(
            null,
            method(
                MQClientInstance.class, "topicRouteData2TopicSubscribeInfo", String.class, ROUTE),
            asked.getString("topic"),
            decoded(asked.get("route")));
        List<MessageQueue> queues = new ArrayList<>(found);
        Collections.sort(queues);
        return Forms.written(queues);
    }

    static Object changed(JSONObject asked) {
        Object old = decoded(asked.get("old"));
        Object now = decoded(asked.get("new"));
        try {
            Method test = ROUTE.getMethod("topicRouteDataChanged", ROUTE);
            return call(now, test, old);
        } catch (NoSuchMethodException ofLine4) {
            return call(
                CLIENT, method(MQClientInstance.class, "topicRouteDataIsChange", ROUTE, ROUTE), old, now);
        }
    }

    /** A route as its text says, or as fastjson writes the object. */
    static Object decoded(Object told) {
        if (told == null) {
            return null;
        }
        String text = told instanceof String
            ? (String) told : JSON.toJSONString(told, SerializerFeature.WriteMapNullValue);
        return RemotingSerializable.decode(text.getBytes(StandardCharsets.UTF_8), ROUTE);
    }

    private static Class<?> route() {
        try {
            return Class.forName("org.apache.rocketmq.remoting.protocol.route.TopicRouteData");
        } catch (ClassNotFoundException ofLine4) {
            try {
                return Class.forName("org.apache.rocketmq.common.protocol.route.TopicRouteData");
            } catch (ClassNotFoundException missing) {
                throw new IllegalStateException(missing);
            }
        }
    }

    private static Method method(Class<?> of, String name, Class<?>... types) {
        try {
            Method method = of.getDeclaredMethod(name, types);
            method.setAccessible(true);
            return method;
        } catch (NoSuchMethodException missing) {
            throw new IllegalStateException(missing);
        }
    }

    private static Object call(Object on, Method method, Object... arguments) {
        try {
            return method.invoke(on, arguments);
        } catch (InvocationTargetException thrown) {
            if (thrown.getCause() instanceof RuntimeException) {
                throw (RuntimeException) thrown.getCause();
            }
            throw new IllegalStateException(thrown.getCause());
        } catch (IllegalAccessException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
