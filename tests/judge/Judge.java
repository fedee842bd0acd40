import com.alibaba.fastjson.JSON;
import com.alibaba.fastjson.JSONArray;
import com.alibaba.fastjson.JSONObject;
import com.alibaba.fastjson.parser.Feature;
import com.alibaba.fastjson.serializer.SerializerFeature;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import org.apache.rocketmq.client.consumer.AllocateMessageQueueStrategy;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMachineRoomNearby;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragely;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragelyByCircle;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueByConfig;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueByMachineRoom;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueConsistentHash;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * Answers cases with RocketMQ's own classes: JSON Lines in, one JSON line per case out, in order.
 *
 * <p>It decides nothing itself. Each client of a case is one call of the real strategy, as each
 * client's own process makes it; the first call that throws decides the case. The names of errors
 * are those of `fairlead conform`, told by the words of the check that threw. Output is ASCII, so
 * that no character can be lost between here and the reader.
 */
public final class Judge {
    private static final String GROUP = "judge";

    /** What a check of RocketMQ says first, and the code that `fairlead conform` has for it. */
    private static final String[][] CODES = {
        {"currentCID is empty", "client_id_empty"},
        {"mqAll is null or mqAll empty", "queues_empty"},
        {"cidAll is null or cidAll empty", "clients_empty"},
        {"Machine room is null for ", "room_unknown"},
        {"illegal virtualNodeCnt ", "virtual_nodes_invalid"},
    };

    private Judge() {
    }

    public static void main(String[] arguments) throws IOException {
        BufferedReader lines =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.US_ASCII.name());
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            out.append(ascii(answer(JSON.parseObject(line, Feature.OrderedField)))).append('\n');
        }
        out.flush();
    }

    private static JSONObject answer(JSONObject asked) {
        JSONObject answered = new JSONObject(true);
        answered.put("id", asked.get("id"));
        try {
            answered.put("result", result(asked));
        } catch (RuntimeException thrown) {
            JSONObject error = new JSONObject(true);
            error.put("code", code(thrown));
            error.put("message", String.valueOf(thrown.getMessage()));
            answered.put("error", error);
        }
        return answered;
    }

    private static Object result(JSONObject asked) {
        switch (asked.getString("kind")) {
            case "allocate":
                return allocate(asked);
            case "sort_queues":
                List<MessageQueue> queues = queues(asked.getJSONArray("queues"));
                Collections.sort(queues);
                return written(queues);
            case "sort_clients":
                List<String> clients = strings(asked.getJSONArray("clients"));
                Collections.sort(clients);
                return clients;
            default:
                throw new UnsupportedOperationException("kind " + asked.getString("kind"));
        }
    }

    private static JSONObject allocate(JSONObject asked) {
        List<MessageQueue> queues = queues(asked.getJSONArray("queues"));
        List<String> clients = strings(asked.getJSONArray("clients"));
        AllocateMessageQueueStrategy strategy =
            strategy(asked.getString("strategy"), asked.getJSONObject("options"));
        JSONArray named = asked.getJSONArray("for");
        JSONObject shares = new JSONObject(true);
        for (String client : new LinkedHashSet<>(named == null ? clients : strings(named))) {
            shares.put(client, written(strategy.allocate(GROUP, client, queues, clients)));
        }
        return shares;
    }

    private static AllocateMessageQueueStrategy strategy(String name, JSONObject given) {
        JSONObject options = given == null ? new JSONObject() : given;
        switch (name) {
            case "AVG":
                return new AllocateMessageQueueAveragely();
            case "AVG_BY_CIRCLE":
                return new AllocateMessageQueueAveragelyByCircle();
            case "CONFIG":
                AllocateMessageQueueByConfig configured = new AllocateMessageQueueByConfig();
                if (options.get("queues") != null) {
                    configured.setMessageQueueList(queues(options.getJSONArray("queues")));
                }
                return configured;
            case "MACHINE_ROOM":
                AllocateMessageQueueByMachineRoom rooms = new AllocateMessageQueueByMachineRoom();
                if (options.get("rooms") != null) {
                    rooms.setConsumeridcs(new HashSet<>(strings(options.getJSONArray("rooms"))));
                }
                return rooms;
            case "MACHINE_ROOM_NEARBY":
                return new AllocateMachineRoomNearby(
                    strategy(options.getString("inner"), options.getJSONObject("inner_options")),
                    new RoomByPrefix());
            case "CONSISTENT_HASH":
                return options.get("virtual_nodes") == null
                    ? new AllocateMessageQueueConsistentHash()
                    : new AllocateMessageQueueConsistentHash(options.getIntValue("virtual_nodes"));
            default:
                throw new UnsupportedOperationException("strategy " + name);
        }
    }

    /** The room of a queue or a client is its name up to the first dash, the resolver of the cases. */
    private static final class RoomByPrefix
        implements AllocateMachineRoomNearby.MachineRoomResolver {
        @Override
        public String brokerDeployIn(MessageQueue queue) {
            return prefix(queue.getBrokerName());
        }

        @Override
        public String consumerDeployIn(String client) {
            return prefix(client);
        }

        private static String prefix(String name) {
            int dash = name.indexOf('-');
            return dash < 0 ? name : name.substring(0, dash);
        }
    }

    private static String code(RuntimeException thrown) {
        if (thrown instanceof IllegalArgumentException) {
            for (String[] pair : CODES) {
                if (String.valueOf(thrown.getMessage()).startsWith(pair[0])) {
                    return pair[1];
                }
            }
        }
        if (thrown instanceof NullPointerException) {
            String thrower = thrower(thrown);
            if (thrower.equals(AllocateMessageQueueByMachineRoom.class.getName())) {
                return "rooms_unset";
            }
            if (thrower.equals(AllocateMachineRoomNearby.class.getName())) {
                // It adds the share of a CONFIG inside, which has no list: to us a wrong option.
                return "bad_option";
            }
        }
        // No code of the format: a comparison that meets it fails and shows what was thrown.
        return thrown.getClass().getName();
    }

    /** The class of RocketMQ whose statement threw, itself or in a collection of Java's. */
    private static String thrower(RuntimeException thrown) {
        for (StackTraceElement frame : thrown.getStackTrace()) {
            if (!frame.getClassName().startsWith("java.")) {
                return frame.getClassName();
            }
        }
        return "";
    }

    private static List<String> strings(JSONArray array) {
        List<String> strings = new ArrayList<>();
        for (Object entry : array) {
            strings.add((String) entry);
        }
        return strings;
    }

    private static List<MessageQueue> queues(JSONArray array) {
        List<MessageQueue> queues = new ArrayList<>();
        for (int index = 0; index < array.size(); index++) {
            JSONArray queue = array.getJSONArray(index);
            queues.add(
                new MessageQueue(queue.getString(0), queue.getString(1), queue.getIntValue(2)));
        }
        return queues;
    }

    /** The form of the format; RocketMQ's own caller takes a missing list for an empty one. */
    private static JSONArray written(List<MessageQueue> queues) {
        JSONArray array = new JSONArray();
        if (queues != null) {
            for (MessageQueue queue : queues) {
                JSONArray one = new JSONArray();
                one.add(queue.getTopic());
                one.add(queue.getBrokerName());
                one.add(queue.getQueueId());
                array.add(one);
            }
        }
        return array;
    }

    /** JSON with every unit beyond ASCII escaped: outside its strings JSON has none. */
    private static String ascii(JSONObject answered) {
        String text = JSON.toJSONString(
            answered,
            SerializerFeature.WriteMapNullValue,
            SerializerFeature.DisableCircularReferenceDetect);
        StringBuilder escaped = new StringBuilder(text.length());
        for (int index = 0; index < text.length(); index++) {
            char unit = text.charAt(index);
            if (unit < 0x7f) {
                escaped.append(unit);
            } else {
                escaped.append(String.format("\\u%04x", (int) unit));
            }
        }
        return escaped.toString();
    }
}
