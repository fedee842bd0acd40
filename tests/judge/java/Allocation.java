import com.alibaba.fastjson.JSONArray;
import com.alibaba.fastjson.JSONObject;
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
 * Lets the real strategies allocate. Each client of a case is one call, as each client's own process
 * makes it; the first call that throws decides the case.
 */
final class Allocation {
    private static final String GROUP = "judge";

    private Allocation() {
    }

    static JSONObject allocate(JSONObject asked) {
        List<MessageQueue> queues = Forms.queues(asked.getJSONArray("queues"));
        List<String> clients = Forms.strings(asked.getJSONArray("clients"));
        AllocateMessageQueueStrategy strategy =
            strategy(asked.getString("strategy"), asked.getJSONObject("options"));
        JSONArray named = asked.getJSONArray("for");
        JSONObject shares = new JSONObject(true);
        for (String client : new LinkedHashSet<>(named == null ? clients : Forms.strings(named))) {
            shares.put(client, Forms.written(strategy.allocate(GROUP, client, queues, clients)));
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
                    configured.setMessageQueueList(Forms.queues(options.getJSONArray("queues")));
                }
                return configured;
            case "MACHINE_ROOM":
                AllocateMessageQueueByMachineRoom rooms = new AllocateMessageQueueByMachineRoom();
                if (options.get("rooms") != null) {
                    rooms.setConsumeridcs(new HashSet<>(Forms.strings(options.getJSONArray("rooms"))));
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
}
