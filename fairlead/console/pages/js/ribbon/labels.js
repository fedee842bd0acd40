// How a queue is written: as the command line takes it, and in less room beside the ribbon.

import { plain } from "../parts/name.js";
import { cutMiddle } from "./palette.js";

/** Return a queue as `--queue` takes it: topic/broker/3. */
export function queueText(queue) {
  return queue.join("/");
}

/** Return queues in one text, as the command line writes them: orders/main/0-3,7, clicks/main/1. */
export function queuesText(queues) {
  const byBroker = new Map();
  for (const [topic, broker, id] of queues) {
    const key = `${topic}/${broker}/`;
    byBroker.set(key, [...(byBroker.get(key) ?? []), id]);
  }
  return [...byBroker].map(([key, ids]) => `${key}${ranges(ids)}`).join(", ");
}

function ranges(ids) {
  const sorted = [...ids].sort((a, b) => a - b);
  const parts = [];
  for (const id of sorted) {
    const last = parts.at(-1);
    if (last !== undefined && id === last[1] + 1) last[1] = id;
    else parts.push([id, id]);
  }
  return parts.map(([a, b]) => (a === b ? `${a}` : `${a}-${b}`)).join(",");
}

/**
 * Return {label, width}: how to write each row's queue within so many pixels, and the widest.
 *
 * What all rows share is left out before anything is cut.
 */
export function rowLabels(rows, measure, most) {
  const brokers = new Set(rows.map(({ queue }) => queue[1]));
  const full = (queue) => plain(queueText(queue));
  const short = ([topic, , id]) => `${plain(topic)}/${id}`;
  const cut = (size) => (queue) => {
    const [topic, broker, id] = queue;
    const rest = brokers.size > 1 ? `/${cutMiddle(plain(broker), 8)}/${id}` : `/${id}`;
    return `${cutMiddle(plain(topic), size)}${rest}`;
  };
  const forms = [full, ...(brokers.size > 1 ? [] : [short]), cut(16), cut(10), cut(6)];
  let chosen = forms[0];
  let width = 0;
  for (chosen of forms) {
    width = rows.reduce((sum, { queue }) => Math.max(sum, measure(chosen(queue))), 0);
    if (width <= most) break;
  }
  return { label: (row) => chosen(row.queue), width: Math.min(width, most) };
}
