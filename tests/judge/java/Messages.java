import com.alibaba.fastjson.JSONObject;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import org.apache.rocketmq.common.UtilAll;
import org.apache.rocketmq.common.message.MessageAccessor;
import org.apache.rocketmq.common.message.MessageDecoder;
import org.apache.rocketmq.common.message.MessageExt;

/** Messages as brokers store them: written and read by MessageDecoder. Bytes are hexadecimal. */
final class Messages {
    private Messages() {
    }

    static String stored(JSONObject asked) {
        MessageExt message = new MessageExt();
        message.setTopic(asked.getString("topic"));
        message.setBody(UtilAll.string2bytes(asked.getString("body")));
        message.setBodyCRC(UtilAll.crc32(message.getBody()));
        message.setQueueId(asked.getIntValue("queue_id"));
        message.setFlag(asked.getIntValue("flag"));
        message.setQueueOffset(asked.getLongValue("offset"));
        message.setCommitLogOffset(asked.getLongValue("commit_log_offset"));
        message.setSysFlag(asked.getIntValue("sys_flag"));
        message.setBornTimestamp(asked.getLongValue("born_ms"));
        message.setBornHost(address(asked.getString("born_host"), asked.getIntValue("born_port")));
        message.setStoreTimestamp(asked.getLongValue("stored_ms"));
        message.setStoreHost(
            address(asked.getString("store_host"), asked.getIntValue("store_port")));
        message.setReconsumeTimes(asked.getIntValue("reconsume_times"));
        MessageAccessor.setProperties(
            message,
            MessageDecoder.string2messageProperties(asked.getString("properties")));
        try {
            return UtilAll.bytes2string(MessageDecoder.encode(message, false));
        } catch (Exception impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    static JSONObject read(JSONObject asked) {
        byte[] bytes = UtilAll.string2bytes(asked.getString("stored"));
        MessageExt message = MessageDecoder.decode(ByteBuffer.wrap(bytes));
        JSONObject read = new JSONObject(true);
        read.put("topic", message.getTopic());
        read.put("body", UtilAll.bytes2string(message.getBody()));
        read.put("queue_id", message.getQueueId());
        read.put("flag", message.getFlag());
        read.put("offset", message.getQueueOffset());
        read.put("commit_log_offset", message.getCommitLogOffset());
        read.put("born_ms", message.getBornTimestamp());
        read.put("stored_ms", message.getStoreTimestamp());
        read.put("reconsume_times", message.getReconsumeTimes());
        read.put("properties", message.getProperties());
        read.put("offset_message_id", message.getMsgId());
        return read;
    }

    private static InetSocketAddress address(String host, int port) {
        try {
            return new InetSocketAddress(InetAddress.getByName(host), port);
        } catch (UnknownHostException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
