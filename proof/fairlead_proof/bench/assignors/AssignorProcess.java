import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.group.api.assignor.GroupAssignment;
import org.apache.kafka.coordinator.group.api.assignor.GroupSpec;
import org.apache.kafka.coordinator.group.api.assignor.MemberAssignment;
import org.apache.kafka.coordinator.group.api.assignor.PartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.apache.kafka.coordinator.group.assignor.RangeAssignor;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;
import org.apache.kafka.coordinator.group.modern.GroupSpecImpl;
import org.apache.kafka.coordinator.group.modern.MemberSubscriptionAndAssignmentImpl;

/**
 * Runs Kafka's own assignors over groups: one group per line of JSON in, its answer out, in order.
 *
 * <p>It decides nothing itself. What an assignor is given is made before the clock starts, from the
 * classes that Kafka's coordinator or its clients make it from; subscriptions are plain sets, which
 * are faster to read than the coordinator's views by name. docs/strategy-benchmark.md has the form of
 * the lines; fairlead_proof.bench.assignors.strategy_process speaks the same one.
 */
public final class AssignorProcess {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final long SIGN_OF_LIFE_NS = 200_000_000L;
    private static final int ROUNDS_MAX = 20;

    private static final PrintStream OUT =
        new PrintStream(System.out, false, StandardCharsets.US_ASCII);

    private AssignorProcess() {
    }

    public static void main(String[] arguments) throws IOException {
        BufferedReader lines =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            JsonNode asked = JSON.readTree(line);
            Group group = new Group(asked);
            say("ready", 1);
            Contest contest = new Contest(asked);
            int[][] owners;
            switch (asked.get("contestant").asText()) {
                case "uniform":
                    owners = onServer(group, new UniformAssignor(), contest);
                    break;
                case "range":
                    owners = onServer(group, new RangeAssignor(), contest);
                    break;
                case "cooperative-sticky":
                    owners = onClient(group, contest);
                    break;
                default:
                    throw new IllegalArgumentException("contestant: " + asked.get("contestant"));
            }
            contest.answer.set("owners", JSON.valueToTree(owners));
            OUT.append(JSON.writeValueAsString(contest.answer)).append('\n').flush();
        }
    }

    private static void say(String what, long value) {
        OUT.append("{\"" + what + "\": " + value + "}\n").flush();
    }

    /** An assignor of the group coordinator: its result is the target that members move towards. */
    private static int[][] onServer(Group group, PartitionAssignor assignor, Contest contest) {
        GroupSpec spec = group.spec();
        SubscribedTopicDescriber describer = group.describer();
        GroupAssignment result = contest.run(() -> assignor.assign(spec, describer));
        int[][] owners = group.nobody();
        for (Map.Entry<String, MemberAssignment> share : result.members().entrySet()) {
            int member = group.memberNumber.get(share.getKey());
            share.getValue().partitions().forEach((topic, partitions) -> {
                for (int partition : partitions) {
                    own(owners, group.topicNumber.get(topic), partition, member);
                }
            });
        }
        return owners;
    }

    /**
     * The assignor of the clients. In a first round it withholds what has to be revoked, so the
     * rounds of the protocol are gone through until nothing is withheld; the first is timed.
     */
    private static int[][] onClient(Group group, Contest contest) {
        Cluster cluster = group.cluster();
        int[][] owners = group.owners;
        for (int round = 1; round <= ROUNDS_MAX; round++) {
            GroupSubscription subscriptions = group.subscriptions(owners, round);
            Supplier<Map<String, Assignment>> call = () ->
                new CooperativeStickyAssignor().assign(cluster, subscriptions).groupAssignment();
            Map<String, Assignment> shares;
            if (round == 1) {
                shares = contest.run(call);
            } else {
                say("round", round);
                shares = call.get();
            }
            owners = group.nobody();
            for (Map.Entry<String, Assignment> share : shares.entrySet()) {
                int member = group.memberNumber.get(share.getKey());
                for (TopicPartition one : share.getValue().partitions()) {
                    own(owners, group.topicByName.get(one.topic()), one.partition(), member);
                }
            }
            contest.answer.put("rounds", round);
            if (group.isComplete(owners)) {
                return owners;
            }
        }
        throw new IllegalStateException("not settled after " + ROUNDS_MAX + " rounds");
    }

    private static void own(int[][] owners, int topic, int partition, int member) {
        if (owners[topic][partition] != -1) {
            throw new IllegalStateException("partition " + topic + "/" + partition + " given twice");
        }
        owners[topic][partition] = member;
    }

    /** Runs a call until it is warm, and then until enough runs were timed. */
    private static final class Contest {
        final ObjectNode answer = JSON.createObjectNode();
        private final long warmUpNs;
        private final long measureNs;
        private final int runsMin;
        private long saidNs = System.nanoTime();

        Contest(JsonNode asked) {
            warmUpNs = asked.get("warm_up_ms").asLong() * 1_000_000;
            measureNs = asked.get("measure_ms").asLong() * 1_000_000;
            runsMin = asked.get("runs_min").asInt();
        }

        <T> T run(Supplier<T> call) {
            int warmUps = 0;
            for (long begun = System.nanoTime(); System.nanoTime() - begun < warmUpNs; warmUps++) {
                call.get();
                live();
            }
            ArrayNode clock = answer.putArray("clock_ns");
            ArrayNode processor = answer.putArray("processor_ns");
            T result = null;
            long begun = System.nanoTime();
            while (clock.size() < runsMin || System.nanoTime() - begun < measureNs) {
                long processorBegun = THREADS.getCurrentThreadCpuTime();
                long runBegun = System.nanoTime();
                T found = call.get();
                clock.add(System.nanoTime() - runBegun);
                processor.add(THREADS.getCurrentThreadCpuTime() - processorBegun);
                result = result == null ? found : result;
                live();
            }
            answer.put("warm_ups", warmUps);
            return result;
        }

        /** Whoever waits takes a long silence for a run that goes beyond its limit. */
        private void live() {
            if (System.nanoTime() - saidNs > SIGN_OF_LIFE_NS) {
                say("alive", 1);
                saidNs = System.nanoTime();
            }
        }
    }

    /** One group: topics, members, subscriptions and owners by number, and in Kafka's own terms. */
    private static final class Group {
        final int[] partitions;
        final int[][] subscriptions;
        final int[] members;
        final int[][] owners;
        final Map<String, Integer> memberNumber = new HashMap<>();
        final Map<Uuid, Integer> topicNumber = new HashMap<>();
        final Map<String, Integer> topicByName = new HashMap<>();
        private final String[] memberNames;
        private final String[] topicNames;
        private final Uuid[] topicIds;
        private final boolean[] subscribed;

        Group(JsonNode asked) {
            partitions = numbers(asked.get("topics"));
            members = numbers(asked.get("members"));
            subscriptions = lists(asked.get("subscriptions"));
            owners = lists(asked.get("owners"));
            memberNames = names("member", members.length);
            topicNames = names("topic", partitions.length);
            topicIds = new Uuid[partitions.length];
            subscribed = new boolean[partitions.length];
            for (int member = 0; member < members.length; member++) {
                memberNumber.put(memberNames[member], member);
                for (int topic : subscriptions[members[member]]) {
                    subscribed[topic] = true;
                }
            }
            for (int topic = 0; topic < partitions.length; topic++) {
                // Spread as random ones are, and the same in every run.
                topicIds[topic] = new Uuid(0x9e3779b97f4a7c15L * (topic + 1), topic);
                topicNumber.put(topicIds[topic], topic);
                topicByName.put(topicNames[topic], topic);
            }
        }

        int[][] nobody() {
            int[][] found = new int[partitions.length][];
            for (int topic = 0; topic < found.length; topic++) {
                found[topic] = new int[partitions[topic]];
                Arrays.fill(found[topic], -1);
            }
            return found;
        }

        /** Tells whether every partition that somebody subscribes has an owner. */
        boolean isComplete(int[][] found) {
            for (int topic = 0; topic < found.length; topic++) {
                for (int owner : found[topic]) {
                    if (owner == -1 && subscribed[topic]) {
                        return false;
                    }
                }
            }
            return true;
        }

        SubscribedTopicDescriber describer() {
            Map<Uuid, Integer> counts = new HashMap<>();
            for (int topic = 0; topic < partitions.length; topic++) {
                counts.put(topicIds[topic], partitions[topic]);
            }
            return new SubscribedTopicDescriber() {
                @Override
                public int numPartitions(Uuid topic) {
                    return counts.getOrDefault(topic, -1);
                }

                @Override
                public Set<String> racksForPartition(Uuid topic, int partition) {
                    return Set.of();
                }
            };
        }

        GroupSpec spec() {
            List<Map<Uuid, Set<Integer>>> owned = new ArrayList<>();
            for (int member = 0; member < members.length; member++) {
                owned.add(new HashMap<>());
            }
            Map<Uuid, Map<Integer, String>> assigned = new HashMap<>();
            for (int topic = 0; topic < owners.length; topic++) {
                Uuid id = topicIds[topic];
                for (int partition = 0; partition < owners[topic].length; partition++) {
                    int owner = owners[topic][partition];
                    if (owner != -1) {
                        owned.get(owner).computeIfAbsent(id, key -> new HashSet<>()).add(partition);
                        assigned.computeIfAbsent(id, key -> new HashMap<>())
                            .put(partition, memberNames[owner]);
                    }
                }
            }
            List<Set<Uuid>> wanted = new ArrayList<>();
            for (int[] topics : subscriptions) {
                Set<Uuid> ids = new HashSet<>();
                for (int topic : topics) {
                    ids.add(topicIds[topic]);
                }
                wanted.add(ids);
            }
            Map<String, MemberSubscriptionAndAssignmentImpl> specs = new HashMap<>();
            Set<Set<Uuid>> different = new HashSet<>();
            for (int member = 0; member < members.length; member++) {
                different.add(wanted.get(members[member]));
                specs.put(memberNames[member], new MemberSubscriptionAndAssignmentImpl(
                    Optional.empty(),
                    Optional.empty(),
                    wanted.get(members[member]),
                    new org.apache.kafka.coordinator.group.modern.Assignment(owned.get(member))));
            }
            SubscriptionType type = different.size() > 1
                ? SubscriptionType.HETEROGENEOUS
                : SubscriptionType.HOMOGENEOUS;
            return new GroupSpecImpl(specs, type, assigned);
        }

        Cluster cluster() {
            Node node = new Node(0, "", 0);
            Node[] replicas = {node};
            List<PartitionInfo> infos = new ArrayList<>();
            for (int topic = 0; topic < partitions.length; topic++) {
                for (int partition = 0; partition < partitions[topic]; partition++) {
                    infos.add(
                        new PartitionInfo(topicNames[topic], partition, node, replicas, replicas));
                }
            }
            return new Cluster("cluster", List.of(node), infos, Set.of(), Set.of());
        }

        /**
         * What members bring to a rebalance: what they were given in the one before, under its
         * generation. A member without partitions has just joined: it has no generation. Partitions
         * of topics that a member no longer subscribes were revoked before.
         */
        GroupSubscription subscriptions(int[][] held, int generation) {
            List<Set<Integer>> wanted = new ArrayList<>();
            List<List<String>> names = new ArrayList<>();
            for (int[] topics : subscriptions) {
                Set<Integer> numbers = new HashSet<>();
                List<String> written = new ArrayList<>();
                for (int topic : topics) {
                    numbers.add(topic);
                    written.add(topicNames[topic]);
                }
                wanted.add(numbers);
                names.add(Collections.unmodifiableList(written));
            }
            List<List<TopicPartition>> owned = new ArrayList<>();
            for (int member = 0; member < members.length; member++) {
                owned.add(new ArrayList<>());
            }
            for (int topic = 0; topic < held.length; topic++) {
                for (int partition = 0; partition < held[topic].length; partition++) {
                    int owner = held[topic][partition];
                    if (owner != -1 && wanted.get(members[owner]).contains(topic)) {
                        owned.get(owner).add(new TopicPartition(topicNames[topic], partition));
                    }
                }
            }
            Map<String, Subscription> found = new HashMap<>();
            for (int member = 0; member < members.length; member++) {
                List<TopicPartition> partitionsOfMember = owned.get(member);
                found.put(memberNames[member], new Subscription(
                    names.get(members[member]),
                    null,
                    partitionsOfMember,
                    partitionsOfMember.isEmpty() ? -1 : generation,
                    Optional.empty()));
            }
            return new GroupSubscription(found);
        }

        private static String[] names(String kind, int count) {
            String[] names = new String[count];
            for (int number = 0; number < count; number++) {
                names[number] = String.format("%s-%06d", kind, number);
            }
            return names;
        }

        private static int[] numbers(JsonNode array) {
            int[] numbers = new int[array.size()];
            int place = 0;
            for (JsonNode entry : array) {
                numbers[place++] = entry.asInt();
            }
            return numbers;
        }

        private static int[][] lists(JsonNode array) {
            int[][] lists = new int[array.size()][];
            int place = 0;
            for (JsonNode entry : array) {
                lists[place++] = numbers(entry);
            }
            return lists;
        }
    }
}
