import com.alibaba.fastjson.JSON;
import com.alibaba.fastjson.JSONObject;
import com.alibaba.fastjson.parser.Feature;
import com.alibaba.fastjson.serializer.SerializerFeature;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMachineRoomNearby;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueByMachineRoom;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * Answers cases with RocketMQ's own classes: JSON Lines in, one JSON line per case out, in order.
 *
 * <p>It decides nothing itself; each family of kinds has a class beside this one. The names of errors
 * are those of `fairlead conform`, told by the words of the check that threw, or by what was thrown.
 * Output is ASCII, so that no character can be lost between here and the reader.
 */
public final class Judge {
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
        // RocketMQ's client has threads that would keep the process.
        System.exit(0);
    }

    private static JSONObject answer(JSONObject asked) {
        JSONObject answered = new JSONObject(true);
        answered.put("id", asked.get("id"));
        try {
            answered.put("result", result(asked));
        } catch (RuntimeException thrown) {
            JSONObject error = new JSONObject(true);
            error.put("code", code(asked.getString("kind"), thrown));
            error.put("message", String.valueOf(thrown.getMessage()));
            answered.put("error", error);
        }
        return answered;
    }

    private static Object result(JSONObject asked) {
        switch (asked.getString("kind")) {
            case "allocate":
                return Allocation.allocate(asked);
            case "sort_queues":
                List<MessageQueue> queues = Forms.queues(asked.getJSONArray("queues"));
                Collections.sort(queues);
                return Forms.written(queues);
            case "sort_clients":
                List<String> clients = Forms.strings(asked.getJSONArray("clients"));
                Collections.sort(clients);
                return clients;
            case "publish_info":
                return Routes.publishInfo(asked);
            case "subscribe_info":
                return Routes.subscribeInfo(asked);
            case "route_changed":
                return Routes.changed(asked);
            case "select_queue":
                return Selection.select(asked);
            case "not_available_ms":
                return Selection.notAvailable(asked);
            case "fault_strategy":
                return Selection.sequence(asked);
            case "start_offset":
                return StartOffset.compute(asked);
            case "store_message":
                return Messages.stored(asked);
            case "read_message":
                return Messages.read(asked);
            default:
                throw new UnsupportedOperationException("kind " + asked.getString("kind"));
        }
    }

    private static String code(String kind, RuntimeException thrown) {
        switch (kind) {
            case "allocate":
                return codeOfAllocation(thrown);
            case "start_offset":
                return thrown instanceof NullPointerException
                    ? "consume_timestamp_invalid" : thrown.getClass().getName();
            default:
                return codeByClass(thrown);
        }
    }

    private static String codeByClass(RuntimeException thrown) {
        if (thrown instanceof ArrayIndexOutOfBoundsException) {
            return "order_topic_conf_incomplete";
        }
        if (thrown instanceof NumberFormatException) {
            return "order_topic_conf_number";
        }
        if (thrown instanceof NullPointerException) {
            return "route_incomplete";
        }
        return thrown instanceof ArithmeticException ? "queues_empty" : thrown.getClass().getName();
    }

    private static String codeOfAllocation(RuntimeException thrown) {
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
