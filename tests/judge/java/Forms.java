import com.alibaba.fastjson.JSONArray;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import org.apache.rocketmq.common.message.MessageQueue;

/** The forms of queues and texts in a case, and the private parts of RocketMQ's objects. */
final class Forms {
    private Forms() {
    }

    static List<String> strings(JSONArray array) {
        List<String> strings = new ArrayList<>();
        for (Object entry : array) {
            strings.add((String) entry);
        }
        return strings;
    }

    static List<MessageQueue> queues(JSONArray array) {
        List<MessageQueue> queues = new ArrayList<>();
        for (int index = 0; index < array.size(); index++) {
            JSONArray queue = array.getJSONArray(index);
            queues.add(
                new MessageQueue(queue.getString(0), queue.getString(1), queue.getIntValue(2)));
        }
        return queues;
    }

    /** The form of the format; RocketMQ's own caller takes a missing list for an empty one. */
    static JSONArray written(List<MessageQueue> queues) {
        JSONArray array = new JSONArray();
        if (queues != null) {
            for (MessageQueue queue : queues) {
                array.add(written(queue));
            }
        }
        return array;
    }

    static JSONArray written(MessageQueue queue) {
        JSONArray one = new JSONArray();
        one.add(queue.getTopic());
        one.add(queue.getBrokerName());
        one.add(queue.getQueueId());
        return one;
    }

    /** A field that RocketMQ keeps to itself, of the object's own class or of one above it. */
    static Field field(Object of, String name) {
        for (Class<?> type = of.getClass(); type != null; type = type.getSuperclass()) {
            try {
                Field field = type.getDeclaredField(name);
                field.setAccessible(true);
                return field;
            } catch (NoSuchFieldException inherited) {
                continue;
            }
        }
        throw new IllegalStateException(of.getClass() + " has no " + name);
    }

    static Object get(Object of, String name) {
        try {
            return field(of, name).get(of);
        } catch (IllegalAccessException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    static void set(Object of, String name, Object value) {
        try {
            field(of, name).set(of, value);
        } catch (IllegalAccessException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
