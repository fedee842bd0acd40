// How each queue moved: told to stop, released, granted, begun, with the time between.

import { html, useMemo } from "../html.js";
import { useApp } from "../app.js";
import { number, span as length } from "../format.js";
import { Chip } from "../parts/chip.js";
import { Name, placeText } from "../parts/name.js";
import { SimpleTable, VirtualTable } from "../parts/table.js";
import { queueText } from "../ribbon/labels.js";
import { Client } from "../ribbon/legend.js";
import { queueKey } from "../ribbon/model.js";
import { Exact } from "./exact.js";

const STEPS = ["heard", "dropped", "taken", "released", "granted", "began"];
const DRAWN_MAX = 128;

const stepOf = (move, name) => move.steps?.find((each) => each.step === name) ?? null;

/** Return when the first and the last step of some moves were, in ms; null: no time lies between. */
export function boundsOf(moves) {
  const times = moves.flatMap((move) => (move.steps ?? []).map((each) => each.at_ms)).filter(Number.isFinite);
  if (times.length === 0 || Math.min(...times) === Math.max(...times)) return null;
  return { from: Math.min(...times), to: Math.max(...times) };
}

export function Moves({ group, moves, looks }) {
  const app = useApp();
  const { t } = app;
  const bounds = useMemo(() => boundsOf(moves), [moves]);
  const told = STEPS.filter((step) => moves.some((move) => stepOf(move, step) !== null));
  const columns = columnsOf(app, group, { bounds, looks, told });
  const Table = moves.length > DRAWN_MAX ? VirtualTable : SimpleTable;
  return html`<div class="stack">
    ${bounds !== null && html`<p class="muted">${t("steps.says", { span: length(bounds.to - bounds.from) })}</p>
      <ul class="legend-steps">${told.map((step) => html`<li key=${step}>
        <span class="dot" data-step=${step} aria-hidden="true"></span>${t(`steps.${step}`)}</li>`)}</ul>`}
    <div class="scroll-x" role="region" tabindex="0" aria-label=${t("steps.title")}>
      <${Table} label=${t("steps.title")} columns=${columns} rows=${moves} className="moves"
        keyOf=${(move) => `${queueKey(move.queue)}\n${move.epoch.join(".")}`} /></div>
  </div>`;
}

/** The columns of moves in a file. */
export const FILE_COLUMNS = [
  { key: "queue", value: ({ queue }) => queueText(queue) },
  { key: "from", value: (move) => move.from },
  { key: "to", value: (move) => move.to },
  { key: "kind", value: (move) => move.kind },
  ...STEPS.map((step) => ({ key: `${step}_ms`, value: (move) => stepOf(move, step)?.at_ms ?? null })),
  { key: "handover_ms", value: (move) => move.handover_ms },
  { key: "start_offset", value: (move) => move.start_position?.[1] ?? null },
  { key: "start_why", value: (move) => move.start_why },
];

function columnsOf({ t, href }, group, { bounds, looks, told }) {
  const time = (step) => ({
    key: step,
    label: t(`steps.${step}`),
    cell: (move) => html`<${Step} step=${stepOf(move, step)} />`,
  });
  return [
    {
      key: "queue",
      label: t("queues.queue"),
      cell: ({ queue }) => html`<${Name} href=${href.queue(group, queue)}>${queueText(queue)}<//>`,
      className: "nowrap",
    },
    {
      key: "way",
      label: t("steps.way"),
      cell: (move) => html`<span class="row way">${who(t, move.from, looks)}<span aria-hidden="true">→</span>
        <span class="visually-hidden">${t("steps.to")}</span>${who(t, move.to, looks)}
        ${move.kind !== "moved" && html`<${Chip} kind="info">${t(`steps.${move.kind}`)}<//>`}
        ${move.unsafe && html`<${Chip} kind="bad">${t("queues.unsafe")}<//>`}</span>`,
    },
    ...told.map(time),
    {
      key: "gap",
      label: t("steps.gap"),
      align: "end",
      cell: (move) => html`<span class="num nowrap">${gapOf(move) === null ? "–" : length(gapOf(move))}</span>`,
    },
    {
      key: "offset",
      label: t("steps.offset"),
      align: "end",
      cell: (move) => html`<span class="num" title=${move.start_why ? t(`start_why.${move.start_why}`) : undefined}>
        ${number(move.start_position?.[1] ?? null)}</span>`,
    },
    ...(bounds === null ? [] : [{
      key: "timeline",
      label: t("steps.timeline"),
      cell: (move) => html`<${Timeline} move=${move} bounds=${bounds} />`,
    }]),
  ];
}

// For how long nobody worked on the queue: from the last sign of the client before to the begin of
// the next one.
function gapOf(move) {
  const from = stepOf(move, "released") ?? stepOf(move, "heard");
  const to = stepOf(move, "began") ?? stepOf(move, "granted");
  if (from === null || to === null) return move.handover_ms;
  return Math.max(0, to.at_ms - from.at_ms);
}

const who = (t, client, looks) => client === null
  ? html`<span class="muted">${t("queues.nobody")}</span>`
  : html`<${Client} look=${looks.get(client)}>${client}<//>`;

function Step({ step }) {
  if (step === null || step.at_ms === null) return html`<span class="muted">–</span>`;
  const { at_ms: at, place, took_ms: took, offset } = step;
  const title = [place && placeText(place), offset != null && `@${offset}`].filter(Boolean).join(" ");
  return html`<span class="nowrap" title=${title || undefined}>
    <${Exact} ms=${at} />${took !== null && html`<span class="took muted">+${length(took)}</span>`}</span>`;
}

// The table tells the same; the line shows at a glance which queue took long.
function Timeline({ move, bounds }) {
  const steps = (move.steps ?? []).filter((each) => Number.isFinite(each.at_ms));
  steps.sort((a, b) => a.at_ms - b.at_ms);
  const began = steps.findIndex((each) => each.step === "began");
  const width = Math.max(1, bounds.to - bounds.from);
  const place = (ms) => ((ms - bounds.from) / width) * 100;
  return html`<span class="timeline" aria-hidden="true">
    ${steps.slice(1).map((each, i) => html`<span key=${each.step} class="timeline-bar"
      data-step=${began >= 0 && i + 1 > began ? "works" : each.step} style=${{
      left: `${place(steps[i].at_ms)}%`, width: `${Math.max(0, place(each.at_ms) - place(steps[i].at_ms))}%`,
    }}></span>`)}
    ${steps.map((each) => html`<span key=${`at ${each.step}`} class="dot" data-step=${each.step}
      style=${{ left: `${place(each.at_ms)}%` }}></span>`)}
  </span>`;
}
