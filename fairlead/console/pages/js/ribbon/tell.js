// What the ribbon says of a span, a gap or a decision: one source for tooltip, panel and speech.

import { clock, instant, number, span as length } from "../format.js";
import { epochText, plain } from "../parts/name.js";
import { queueText } from "./labels.js";

/**
 * Return what lies at a spot of a stage: {head, facts: [[label, text]…], queue, decision, at}.
 *
 * `queue` is its queue, `decision` the place of its decision, `at` its moment; each may be null.
 */
export function tell(t, stage, spot) {
  if (spot === null) return null;
  if (spot.mark !== undefined) return ofMark(t, stage.scene.marks[spot.mark]);
  const row = stage.scene.rows[spot.row];
  if (row === undefined) return null;
  const { item } = spot;
  if (item.kind === "none") return nothing(t, row);
  return item.kind === "gap" ? ofGap(t, row, item) : ofSpan(t, row, item);
}

/** Return the same as one line of speech. */
export function spoken(told) {
  if (told === null) return "";
  return [told.head, ...told.facts.map(([label, text]) => `${label}: ${text}`)].join(". ");
}

function nothing(t, row) {
  const head = t("ribbon.nothing", { queue: plain(queueText(row.queue)) });
  return { head, facts: [], queue: row.queue, decision: null, at: null };
}

function ofMark(t, mark) {
  const facts = [
    [t("ribbon.when"), instant(mark.append_ms)],
    [t("ribbon.epoch"), epochText(mark.epoch)],
    [t("ribbon.moved"), number(mark.queues_moved)],
  ];
  const head = t("ribbon.mark", { says: plain(mark.says) });
  return { head, facts, queue: null, decision: mark.at, at: mark.append_ms };
}

function ofGap(t, row, { from, to, span, next }) {
  const name = plain(queueText(row.queue));
  const facts = [[t("ribbon.when"), `${clock(from)} – ${next === null ? t("ribbon.now") : clock(to)}`]];
  facts.push([t("ribbon.gap"), length(to - from)]);
  facts.push([t("ribbon.before"), plain(span.client_id)]);
  if (next !== null) facts.push([t("ribbon.after"), plain(next.client_id)]);
  const head = t(next === null ? "ribbon.nobody" : "ribbon.handover", { queue: name });
  return { head, facts, queue: row.queue, decision: next?.given_at ?? null, at: from };
}

function ofSpan(t, row, { kind, from, to, span }) {
  const values = { queue: plain(queueText(row.queue)), client: plain(span.client_id) };
  const facts = [];
  const begin = span.begins_ms === null ? t("ribbon.unremembered") : clock(from);
  const end = span.ends_ms === null ? t("ribbon.now") : clock(to);
  facts.push([t("ribbon.when"), `${begin} – ${end}`]);
  if (span.begins_ms !== null) facts.push([t("ribbon.lasts"), length(to - from)]);
  facts.push([t("ribbon.epoch"), epochText(span.epoch)]);
  if (span.start_offset !== null) {
    const why = span.start_why === null ? "" : ` (${t(`start_why.${span.start_why}`)})`;
    facts.push([t("ribbon.offset"), `${number(span.start_offset)}${why}`]);
  }
  const gap = gapBefore(row, span);
  if (gap !== null) facts.push([t("ribbon.gap_before"), `${number(gap)} ms`]);
  if (span.asked_ms !== null) facts.push([t("ribbon.asked"), clock(span.asked_ms)]);
  if (span.released_ms !== null) facts.push([t("ribbon.released"), clock(span.released_ms)]);
  if (span.silent_since_ms != null) {
    const silent = length(to - span.silent_since_ms);
    facts.push([t("ribbon.silent"), `${clock(span.silent_since_ms)} (${silent})`]);
  }
  if (span.unsafe) facts.push([t("ribbon.unsafe"), t("ribbon.unsafe_says")]);
  const head = t(headOf(kind, span), values);
  return { head, facts, queue: row.queue, decision: span.given_at, at: span.begins_ms };
}

function headOf(kind, span) {
  if (kind === "waits") return "ribbon.waits";
  return span.ends_ms === null ? "ribbon.has" : "ribbon.had";
}

/** Return how long nobody worked on a queue before this owner, in ms; null: not known. */
export function gapBefore(row, span) {
  if (span.begins_ms === null || span.waits) return null;
  const i = row.spans.indexOf(span);
  const before = row.spans.slice(0, i).findLast((each) => !each.waits && each.ends_ms !== null);
  return before === undefined ? null : span.begins_ms - before.ends_ms;
}
