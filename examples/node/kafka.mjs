// The work of client.mjs with real messages: one reader of Kafka for all queues of the process.
// The gateway says which queues, and from where on: this consumer joins no group of Kafka's.
import { setTimeout as sleep } from "node:timers/promises";
import { Consumer, ResponseError } from "@platformatic/kafka";

const WAIT_MS = 200; // how long a broker waits for messages
const PATIENCE_MS = 5_000; // a broker that is silent for longer gets another connection
const PAUSE_MS = 200; // after an error
const [OUT_OF_RANGE, EARLIEST, TRANSACTIONAL, CONTROL] = [1, -2n, 0x10, 0x20]; // of Kafka's protocol
const { BOOTSTRAP: bootstrap = "localhost:9092" } = process.env;
const ahead = new Map(); // queue -> { next, messages, end }: what was read from an offset on, up to an end
let consumer = connected();
let waiting = []; // { work, found }: who waits for a message
let reading = false;
let stale = false; // whether leaders may have changed

/** Returns the first message from work.position on; null: none came soon. */
export function read(work) {
  return new Promise((found) => {
    const its = readAhead(work);
    // Not at once: requests and signals have their turn between two messages.
    if (its?.messages.length > 0) return setImmediate(found, taken(its));
    waiting.push({ work, found });
    if (!reading) fetchForAll();
  });
}

/** Ends the process; a broker that does not answer is not awaited. */
export async function close() {
  await Promise.race([consumer.close(true).catch(() => {}), sleep(1_000)]);
  process.exit();
}

function connected() {
  const bootstrapBrokers = bootstrap.split(",");
  return new Consumer({ clientId: "fairlead", groupId: "none", bootstrapBrokers, retries: 0 });
}

// What was read for this very position: not for a work that stood elsewhere.
function readAhead(work) {
  const its = ahead.get(String(work.queue));
  return its?.next === work.position ? its : undefined;
}

function taken(its) {
  const message = its.messages.shift();
  its.next = message.offset + 1;
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
    } catch (error) {
      stale = true;
      console.error(`Kafka: ${error.message}`);
      consumer.close(true).catch(() => {});
      consumer = connected();
      await sleep(PAUSE_MS);
    }
    for (const { work, found } of asked) {
      const its = readAhead(work);
      found(its?.messages.length > 0 ? taken(its) : null);
    }
  }
  reading = false;
}

// Asks the leader of each queue for the messages from the work's position on.
async function fetchOnce(works) {
  const topics = [...new Set(works.map(({ queue: [topic] }) => topic))];
  const metadata = await inTime(consumer.metadata({ topics, forceUpdate: stale }));
  stale = false;
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
    partitions: works.map((work) => ({
      partition: work.queue[2],
      currentLeaderEpoch: -1,
      fetchOffset: BigInt(readAhead(work)?.end ?? work.position),
      lastFetchedEpoch: -1,
      partitionMaxBytes: 1_048_576,
    })),
  }));
  let answer;
  try {
    answer = await inTime(consumer.fetch({ node, topics, maxWaitTime: WAIT_MS, minBytes: 1 }));
  } catch (error) {
    // One queue's error fails the library's call, but the answer has the others.
    answer = error instanceof ResponseError ? error.response : error.findBy?.("code", ResponseError.code)?.response;
    if (!answer) throw error;
    stale = true;
    console.error(`Kafka: ${error.message}`);
    await sleep(PAUSE_MS);
  }
  for (const { topicId, partitions } of answer.responses) {
    const [, works] = [...its].find(([topic]) => metadata.topics.get(topic).id === topicId);
    for (const partition of partitions) {
      const work = works.find(({ queue }) => queue[2] === partition.partitionIndex);
      if (partition.errorCode === 0) take(work, partition);
      else if (partition.errorCode === OUT_OF_RANGE) await skipDeleted(work);
    }
  }
}

// The broker has no message at the position any more: the first one that is left comes next.
async function skipDeleted(work) {
  const { queue: [topic, , partition], position } = work;
  const earliest = { topics: [topic], partitions: { [topic]: [partition] }, timestamp: EARLIEST };
  const [first] = [...(await inTime(consumer.listOffsets(earliest))).get(topic)].filter((offset) => offset >= 0n);
  if (first > BigInt(position)) ahead.set(String(work.queue), { next: position, messages: [], end: Number(first) });
}

function take(work, { records, abortedTransactions }) {
  const next = work.position;
  let end = readAhead(work)?.end ?? next;
  const messages = [];
  const aborted = [...(abortedTransactions ?? [])].sort((one, other) => Number(one.firstOffset - other.firstOffset));
  const ignored = new Set(); // producers whose messages are of an aborted transaction
  for (const batch of records ?? []) {
    const last = batch.firstOffset + BigInt(batch.lastOffsetDelta);
    while (aborted[0]?.firstOffset <= last) ignored.add(aborted.shift().producerId);
    if (batch.attributes & CONTROL) ignored.delete(batch.producerId); // the end of a transaction
    else if (!(batch.attributes & TRANSACTIONAL) || !ignored.has(batch.producerId)) messages.push(...messagesOf(batch, end));
    end = Math.max(end, Number(last) + 1);
  }
  ahead.set(String(work.queue), { next, messages, end });
}

function messagesOf({ firstOffset, records }, from) {
  const messages = records.map(({ offsetDelta, key, value }) => ({ offset: Number(firstOffset) + offsetDelta, key, value }));
  return messages.filter(({ offset }) => offset >= from);
}

async function inTime(promise) {
  const timer = new AbortController();
  const late = sleep(PATIENCE_MS, undefined, { signal: timer.signal }).then(() => {
    throw new Error("no answer in time");
  });
  late.catch(() => {});
  promise.catch(() => {});
  try {
    return await Promise.race([promise, late]);
  } finally {
    timer.abort();
  }
}
