// What the ribbon shows: rows of spans and gaps, and the marks of decisions, by the server's words.

/** Return the key of a queue: [topic, broker, id] as one text. */
export function queueKey(queue) {
  return queue.join("\n");
}

/** Compare two queues in RocketMQ's order: topic, broker, id. */
export function byQueue(a, b) {
  if (a[0] !== b[0]) return a[0] < b[0] ? -1 : 1;
  if (a[1] !== b[1]) return a[1] < b[1] ? -1 : 1;
  return a[2] - b[2];
}

const beginOf = (span) => span.begins_ms ?? -Infinity;
const endOf = (span) => span.ends_ms ?? Infinity;

/**
 * Everything that a ribbon knows.
 *
 * A stream tells all from `from_ms` on; looks back, before it, are put in front of it. Nothing is
 * told twice: what ended before `from_ms` comes from a look back, everything else from the stream.
 */
export class RibbonModel {
  rows = [];
  marks = [];
  clients = [];
  from_ms = Infinity;
  now_ms = 0;
  kept_since_ms = null;
  /** Changes with everything but the time. */
  version = 0;
  /** Changes when queues come or go. */
  shape = 0;
  #byKey = new Map();
  #stream_ms = Infinity;

  /** Take a whole answer, in the place of all that is known from its first moment on. */
  take(ribbon) {
    const gapless = ribbon.from_ms >= this.from_ms;
    const known = gapless ? this.#byKey : new Map();
    this.#byKey = new Map();
    this.#stream_ms = ribbon.from_ms;
    if (!gapless || this.rows.length === 0) this.from_ms = ribbon.from_ms;
    this.marks = gapless ? this.marks.filter((each) => each.append_ms < ribbon.from_ms) : [];
    this.clients = gapless ? this.clients : [];
    this.kept_since_ms = ribbon.kept_since_ms;
    for (const { queue, spans } of ribbon.rows) {
      this.#put(queue, spans, known.get(queueKey(queue))?.spans ?? []);
    }
    this.#follow(ribbon);
  }

  /** Take a change of the stream: the rows, marks and clients that it names. */
  change({ rows = [], rows_gone = [], marks = [], clients = null, now_ms = 0 }) {
    for (const queue of rows_gone) if (this.#byKey.delete(queueKey(queue))) this.shape += 1;
    for (const { queue, spans } of rows) {
      this.#put(queue, spans, this.#byKey.get(queueKey(queue))?.spans ?? []);
    }
    if (rows.length + rows_gone.length + marks.length > 0) {
      this.#follow({ marks, clients: clients ?? [], now_ms });
    } else this.now_ms = Math.max(this.now_ms, now_ms);
  }

  /** Put a look back in front of what is known; it ends where that begins. */
  extend(older) {
    for (const { queue, spans } of older.rows) {
      const row = this.#byKey.get(queueKey(queue));
      const before = spans.filter((each) => endOf(each) < this.from_ms);
      if (row === undefined) this.#put(queue, [], before);
      else row.spans = [...before, ...row.spans];
    }
    const marks = older.marks.filter((each) => each.append_ms < this.from_ms);
    this.marks = [...marks, ...this.marks];
    this.from_ms = Math.min(this.from_ms, older.from_ms);
    this.kept_since_ms = older.kept_since_ms;
    this.#follow({ marks: [], clients: older.clients, now_ms: 0 });
  }

  /** Forget what was over before a moment: a tab that is left open for a day does not grow. */
  prune(before) {
    if (this.from_ms >= before) return;
    for (const row of this.rows) row.spans = row.spans.filter((each) => endOf(each) >= before);
    this.marks = this.marks.filter((each) => each.append_ms >= before);
    this.clients = [...new Set(this.rows.flatMap((row) => row.spans.map((s) => s.client_id)))].sort();
    this.from_ms = before;
    this.version += 1;
  }

  #put(queue, spans, known) {
    const key = queueKey(queue);
    const older = known.filter((each) => endOf(each) < this.#stream_ms);
    if (!this.#byKey.has(key)) this.shape += 1;
    this.#byKey.set(key, { key, queue, spans: [...older, ...spans] });
  }

  #follow({ marks, clients, now_ms }) {
    const known = new Set(this.marks.map((each) => each.at.join("/")));
    const fresh = marks.filter((each) => !known.has(each.at.join("/")));
    this.marks = [...this.marks, ...fresh].sort((a, b) => a.append_ms - b.append_ms);
    this.clients = [...new Set([...this.clients, ...clients])].sort();
    this.rows = [...this.#byKey.values()].sort((a, b) => byQueue(a.queue, b.queue));
    this.now_ms = Math.max(this.now_ms, now_ms);
    this.version += 1;
  }

  /** Return the row of a queue, or undefined. */
  row(queue) {
    return this.#byKey.get(queueKey(queue));
  }
}

/** Return the index of the first of some sorted things whose `end` is after a moment. */
export function firstAfter(things, moment, end) {
  let low = 0;
  let high = things.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (end(things[middle]) > moment) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * Return what a row has within a window, oldest first.
 *
 * Each is {kind, from, to, span, next}. A "span" is an owner's; one that "waits" has its grant and
 * may not begin. A "gap" lies between the end of an owner, its `span`, and the begin of the next; it
 * goes on if there is none.
 */
export function itemsOf(row, from, to, now) {
  const items = [];
  let last = null;
  const gap = (next) => {
    if (last === null || last.ends_ms === null) return;
    const until = next === null ? now : beginOf(next);
    const seen = until > last.ends_ms && until > from && last.ends_ms < to;
    if (seen) items.push({ kind: "gap", from: last.ends_ms, to: until, span: last, next });
  };
  const { spans } = row;
  let i = Math.max(0, firstAfter(spans, from, endOf) - 1);
  for (; i < spans.length && beginOf(spans[i]) < to; i += 1) {
    const span = spans[i];
    const begin = beginOf(span);
    if (!span.waits) gap(span);
    const end = span.ends_ms ?? Math.max(now, begin);
    const kind = span.waits ? "waits" : "span";
    if (end > from) items.push({ kind, from: begin, to: end, span, next: null });
    if (!span.waits && (last === null || endOf(span) > endOf(last))) last = span;
  }
  gap(i < spans.length ? (spans.slice(i).find((each) => !each.waits) ?? null) : null);
  return items;
}

/** Return the clients that had or wait for a queue of some rows within a window. */
export function clientsIn(rows, from, to) {
  const clients = new Set();
  for (const { spans } of rows) {
    for (let i = firstAfter(spans, from, endOf); i < spans.length && beginOf(spans[i]) < to; i += 1) {
      clients.add(spans[i].client_id);
    }
  }
  return [...clients].sort();
}

/** Return the owner of a row at a moment: its span, or null. */
export function spanAt(row, moment) {
  const span = row.spans[firstAfter(row.spans, moment, endOf)];
  return span !== undefined && beginOf(span) <= moment && !span.waits ? span : null;
}

/** Return the index of the mark that is nearest to a moment, within a reach in ms; -1: none. */
export function nearestMark(marks, moment, reach) {
  const next = firstAfter(marks, moment, (mark) => mark.append_ms);
  let best = -1;
  let distance = reach;
  for (const i of [next - 1, next]) {
    const off = i >= 0 && i < marks.length ? Math.abs(marks[i].append_ms - moment) : Infinity;
    if (off <= distance) [best, distance] = [i, off];
  }
  return best;
}
