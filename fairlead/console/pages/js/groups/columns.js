// The columns of the list: how each is drawn, what it is sorted by, and what an export holds of it.
import { html } from "../html.js";
import * as format from "../format.js";
import { Chip, PhaseChip } from "../parts/chip.js";
import { Name, plain } from "../parts/name.js";
import { Spark } from "../parts/spark.js";
import { Ago } from "../parts/time.js";

const PASSING = new Set([
  "handing_over",
  "settling",
  "barrier",
  "waiting_for_clients",
  "waiting_for_offsets",
  "waiting_for_route",
  "unknown",
]);

export const sortOf = ({ sort, desc }) =>
  sort ? { key: sort, desc: desc === "1" } : { key: "problems", desc: true };

// Problems before alarms before what is moving; the rest is alike.
export function urgency({ problems, other_alarms: alarms, phase }) {
  return problems.length * 100 + alarms.length * 10 + (PASSING.has(phase) ? 1 : 0);
}

export function columnsOf({ t, href }, history) {
  const count = (key, cell) => ({
    key,
    label: t(`groups.${key}`),
    align: "end",
    descFirst: true,
    value: (row) => row[key],
    cell: cell ?? ((row) => html`<${Count} value=${row[key]} />`),
  });
  const columns = [
    {
      key: "group",
      label: t("groups.group"),
      value: (row) => row.group,
      cell: ({ group }) =>
        html`<${Name} href=${href.group(group)} title=${plain(group)}>${group}<//>`,
    },
    {
      key: "phase",
      label: t("groups.phase"),
      value: (row) => row.phase,
      cell: ({ phase }) => html`<${PhaseChip} phase=${phase} />`,
    },
    {
      key: "problems",
      label: t("groups.problems"),
      descFirst: true,
      value: urgency,
      cell: (row) => html`<${Troubles} row=${row} t=${t} />`,
    },
    count(
      "members",
      ({ members, members_idle: idle }) => html`<${Count} value=${members}
      also=${idle > 0 && t("groups.idle", { n: idle })} />`,
    ),
    count("queues"),
    count(
      "queues_unassigned",
      ({ queues_unassigned: n }) => html`<${Count} value=${n} kind=${n > 0 && "warn"} />`,
    ),
    count(
      "queues_in_handover",
      ({ queues_in_handover: n }) => html`<${Count} value=${n} kind=${n > 0 && "busy"} />`,
    ),
    count(
      "lag_messages",
      (row) => html`<${Count} value=${row.lag_messages} least=${row.lag_at_least} t=${t} />`,
    ),
    {
      key: "lag_ms",
      label: t("groups.lag_ms"),
      align: "end",
      descFirst: true,
      value: (row) => row.lag_ms,
      cell: ({ lag_ms: ms }) =>
        html`<span class=${ms ? "num" : "num muted"}>${ms === 0 ? "0" : format.span(ms)}</span>`,
    },
    {
      key: "last_rebalance",
      label: t("groups.last_rebalance"),
      descFirst: true,
      value: (row) => row.last_rebalance?.append_ms,
      cell: ({ last_rebalance: last }) => html`<${Last} last=${last} t=${t} />`,
    },
    {
      key: "history",
      label: t("groups.history"),
      sortable: true,
      descFirst: true,
      value: ({ group }) => total(history?.groups[group]?.moved),
      cell: ({ group }) => html`<${Day} moved=${history?.groups[group]?.moved} t=${t} />`,
    },
  ];
  return columns.map((each) => ({ ...each, says: t(`groups.${each.key}_says`) }));
}

const total = (values) => values?.reduce((sum, each) => sum + each, 0) ?? null;

function Count({ value, also, least, kind, t }) {
  const text = value == null ? "–" : `${least ? "≥ " : ""}${format.number(value)}`;
  const title =
    value == null ? t?.("groups.not_known") : least ? t?.("groups.at_least") : undefined;
  return html`<span class=${`num${value ? "" : " muted"}`} data-kind=${kind || undefined}
    title=${title}>${text}</span>
    ${also && html`<span class="also">${also}</span>`}`;
}

// Each problem in words, two of them to be seen; its word of the documentation stands in the title.
function Troubles({ row, t }) {
  const all = [
    ...row.problems.map((word) => ["bad", word]),
    ...row.other_alarms.map((word) => ["warn", word]),
  ];
  if (all.length === 0) return html`<span class="muted">${t("groups.no_problem")}</span>`;
  const shown = all.slice(0, all.length > 2 ? 1 : 2);
  const rest = all
    .slice(shown.length)
    .map(([, word]) => worded(t, "finding", word))
    .join(", ");
  return html`<span class="chips">
    ${shown.map(
      ([kind, word]) => html`<${Chip} key=${word} kind=${kind}
      title=${`${worded(t, "finding", word)} (${word})`}>${worded(t, "finding", word)}<//>`,
    )}
    ${
      rest &&
      html`<span class="more" title=${rest}><span aria-hidden="true">
        +${all.length - shown.length}</span>
      <span class="visually-hidden">${rest}</span></span>`
    }
  </span>`;
}

// A word of the vocabulary in the reader's language; one that is not known here is shown as it is.
export function worded(t, kind, word) {
  const key = `${kind}.${word}`;
  const text = t(key);
  return text === key ? word.replaceAll("_", " ") : text;
}

export const triggersText = (t, triggers) =>
  triggers.map((each) => worded(t, "trigger", each)).join(", ");

function Last({ last, t }) {
  if (!last) return html`<span class="muted">${t("groups.never")}</span>`;
  const why = `${t("groups.moved", { n: last.queues_moved })} · ${triggersText(t, last.triggers)}`;
  return html`<span class="last"><span class="last-why" title=${why}>${why}</span>
    <span class="muted"><${Ago} ms=${last.append_ms} /></span></span>`;
}

function Day({ moved, t }) {
  if (!moved) return html`<span class="muted">–</span>`;
  const all = total(moved);
  const isPart = moved.includes(null);
  const label = isPart
    ? t("groups.day_part", { n: all, hours: moved.filter((each) => each !== null).length })
    : all === 0
      ? t("groups.day_calm")
      : t("groups.day", { n: all, hours: moved.filter(Boolean).length, most: Math.max(...moved) });
  return html`<${Spark} values=${moved} label=${label} />`;
}

const field = (key, value = (row) => row[key]) => ({ key, value });

// What stands in a line of CSV, named as in JSON.
export const EXPORTED = [
  ...[
    "group",
    "phase",
    "members",
    "members_idle",
    "queues",
    "queues_unassigned",
    "queues_in_handover",
    "lag_messages",
    "lag_ms",
  ].map((key) => field(key)),
  field("last_rebalance_ms", (row) => row.last_rebalance?.append_ms),
  field("last_rebalance_triggers", (row) => row.last_rebalance?.triggers.join(" ")),
  field("last_rebalance_queues_moved", (row) => row.last_rebalance?.queues_moved),
  field("problems", (row) => row.problems.join(" ")),
];
