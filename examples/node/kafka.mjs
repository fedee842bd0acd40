// The work of client.mjs with real messages: one reader of Kafka for all queues of the process.
// The gateway says which queues, and from where on: this consumer joins no group of Kafka's.
import { setTimeout as sleep } from "node:timers/promises";
import { Consumer } from "@platformatic/kafka";

const WAIT_MS = 200; // how long a broker waits for messages
const PAUSE_MS = 200; // after an error
const { BOOTSTRAP: bootstrap = "localhost:9092" } = process.env;
const consumer = new Consumer({ clientId: "fairlead", groupId: "none", bootstrapBrokers: bootstrap.split(",") });
const ahead = new Map(); // queue -> { next, messages }: the messages from an offset on
let waiting = []; // { work, found }: who waits for a message
let reading = false;
let stale = false; // whether leaders may have changed

/** Returns the first message from work.position on; null: none came soon. */
export function read(work) {
  const its = ahead.get(String(work.queue));
  if (its?.next === work.position && its.messages.length > 0) return Promise.resolve(taken(its));
  return new Promise((found) => {
    waiting.push({ work, found });
    if (!reading) fetchForAll();
  });
}

export const close = () => consumer.close(true);

function taken(queue) {
  const message = queue.messages.shift();
  queue.next = message.offset + 1;
  return message;
}

async function fetchForAll() {
  reading = true;
  while (waiting.length > 0) {
    await new Promise(setImmediate); // other queues ask in the same moment
    const asked = waiting;
    waiting = [];
    try {
      await fetchOnce(asked.map(({ work }) => work));
      stale = false;
    } catch (error) {
      stale = true;
      console.error(`Kafka: ${error.message}`);
      await sleep(PAUSE_MS);
    }
    for (const { work, found } of asked) {
      const its = ahead.get(String(work.queue));
      found(its?.messages.length > 0 ? taken(its) : null);
    }
  }
  reading = false;
}

// Asks the leader of each queue for the messages from the work's position on.
async function fetchOnce(works) {
  for (const work of works) ahead.delete(String(work.queue));
  const topics = [...new Set(works.map(({ queue: [topic] }) => topic))];
  const metadata = await consumer.metadata({ topics, forceUpdate: stale });
  const leaders = new Map(); // node -> topic -> works
  for (const work of works) {
    const [topic, , partition] = work.queue;
    const node = metadata.topics.get(topic).partitions[partition].leader;
    const its = leaders.get(node) ?? leaders.set(node, new Map()).get(node);
    its.set(topic, [...(its.get(topic) ?? []), work]);
  }
  await Promise.all([...leaders].map(([node, its]) => fetchFrom(node, its, metadata)));
}

async function fetchFrom(node, its, metadata) {
  const topics = [...its].map(([topic, works]) => ({
    topicId: metadata.topics.get(topic).id,
    partitions: works.map(({ queue, position }) => ({
      partition: queue[2],
      currentLeaderEpoch: -1,
      fetchOffset: BigInt(position),
      lastFetchedEpoch: -1,
      partitionMaxBytes: 1_048_576,
    })),
  }));
  const answer = await consumer.fetch({ node, topics, maxWaitTime: WAIT_MS, minBytes: 1 });
  for (const { topicId, partitions } of answer.responses) {
    const [, works] = [...its].find(([topic]) => metadata.topics.get(topic).id === topicId);
    for (const { partitionIndex, records = [] } of partitions) {
      const work = works.find(({ queue }) => queue[2] === partitionIndex);
      const messages = records.flatMap(messagesOf).filter(({ offset }) => offset >= work.position);
      ahead.set(String(work.queue), { next: work.position, messages });
    }
  }
}

const CONTROL = 0x20; // a batch that only marks the end of a transaction

function messagesOf({ firstOffset, attributes, records }) {
  if (attributes & CONTROL) return [];
  return records.map(({ offsetDelta, key, value }) => ({ offset: Number(firstOffset) + offsetDelta, key, value }));
}
