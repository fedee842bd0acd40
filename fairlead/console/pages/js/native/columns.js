// The columns of native groups, of their members and of their queues.
import { html } from "../html.js";
import * as format from "../format.js";
import { worded } from "../groups/columns.js";
import { Chip } from "../parts/chip.js";
import { Name, plain, QueueName } from "../parts/name.js";
import { Ago } from "../parts/time.js";

const KINDS = { safe: "ok", nobody: "idle", problems: "bad" };

export function Verdict({ group, t }) {
  const problems = [...new Set(group.problem_list.map(({ problem }) => problem))];
  if (problems.length === 0) {
    return html`<${Chip} kind=${KINDS[group.verdict]}>${t(`safety.verdict_${group.verdict}`)}<//>`;
  }
  return html`<span class="chips">${problems.map(
    (each) => html`<${Chip} key=${each} kind="bad" title=${each}>${worded(t, "finding", each)}<//>`,
  )}</span>`;
}

const number = (key, label, kindOf) => ({
  key,
  label,
  align: "end",
  descFirst: true,
  value: (row) => row[key],
  cell: (row) => html`<span class=${`num${row[key] ? "" : " muted"}`}
    data-kind=${kindOf?.(row)}>${format.number(row[key])}</span>`,
});

export const warned = (key) => (row) => (row[key] > 0 ? "warn" : undefined);

export function groupColumns({ t, href }) {
  return [
    {
      key: "group",
      label: t("groups.group"),
      value: (row) => row.group,
      cell: ({ group, native }) =>
        html`<${Name} href=${href.nativeGroup(native, group)} title=${plain(group)}>${group}<//>`,
    },
    { key: "native", label: t("native.kind"), value: (row) => t(`native.${row.native}`) },
    {
      key: "verdict",
      label: t("groups.problems"),
      descFirst: true,
      value: (row) => row.problem_list.length,
      cell: (row) => html`<${Verdict} group=${row} t=${t} />`,
    },
    {
      key: "assignors",
      label: t("native.assignors"),
      value: (row) => row.assignors.join(", "),
      cell: ({ assignors }) => html`<${Name}>${assignors.join(", ") || "–"}<//>`,
    },
    number("members", t("groups.members")),
    number("members_idle", t("native.idle")),
    number("queues", t("groups.queues")),
    number("queues_unassigned", t("groups.queues_unassigned"), warned("queues_unassigned")),
    number("lag_messages", t("groups.lag_messages")),
    number("rebalances_seen", t("native.rebalances")),
    {
      key: "last_native",
      label: t("native.last"),
      descFirst: true,
      value: (row) => row.last_native?.over_ms,
      cell: ({ last_native: last }) => html`<${Ago} ms=${last?.over_ms} />`,
    },
  ];
}

// What stands in a line of CSV, named as in JSON.
export const EXPORTED = [
  "group", "native", "verdict", "protocol", "native_state", "native_generation", "members",
  "members_idle", "queues", "queues_unassigned", "queues_shared", "lag_messages",
].map((key) => ({ key, value: (row) => row[key] }));

export const nameOf = ({ client_id: client, member_id: id, host }) =>
  client === id ? client : `${client} · ${host}`;

export function memberColumns({ t }) {
  const text = (key, label, value) => ({
    key,
    label,
    value,
    cell: (row) => html`<${Name}>${value(row) ?? "–"}<//>`,
  });
  return [
    text("client_id", t("members.client"), nameOf),
    {
      key: "state",
      label: t("queues.state"),
      value: (row) => row.silent_because ?? "",
      cell: ({ silent_because: why }) =>
        why
          ? html`<${Chip} kind=${why === "frozen" ? "bad" : "warn"} title=${why}>
            ${worded(t, "finding", why === "frozen" ? "frozen" : "untold")}<//>`
          : html`<${Chip} kind="ok">${t("native.answers")}<//>`,
    },
    number("queues", t("members.queues")),
    number("lag_messages", t("queues.lag")),
    text("client_version", t("native.version"), (row) => row.client_version ?? row.language),
    text("seen_by", t("native.seen_by"), (row) => seenBy(row)),
  ];
}

const seenBy = ({ seen_by: brokers, host }) =>
  Object.entries(brokers)
    .map(([broker, addresses]) => `${broker}: ${addresses.join(" ")}`)
    .join("; ") || host;

export function queueColumns({ t }, members) {
  const names = new Map(members.map((each) => [each.member_id, nameOf(each)]));
  // A queue without an owner may be that of a member that says nothing.
  const isKnown = members.every(({ silent_because: why }) => why === null);
  return [
    {
      key: "queue",
      label: t("queues.queue"),
      value: ({ queue }) => `${queue[0]} ${queue[1]} ${String(queue[2]).padStart(6, "0")}`,
      cell: ({ queue }) => html`<${QueueName} queue=${queue} />`,
    },
    {
      key: "owner",
      label: t("queues.owner"),
      value: (row) => row.owner_ids.map((id) => names.get(id) ?? id).join(", "),
      cell: (row) =>
        row.owner_ids.length === 0
          ? html`<span class="muted">${isKnown ? t("queues.nobody") : "–"}</span>`
          : html`<${Name}>${row.owner_ids.map((id) => names.get(id) ?? id).join(", ")}<//>`,
    },
    number("committed_offset", t("native.committed")),
    number("end_offset", t("queue.end")),
    number("lag_messages", t("queues.lag")),
  ];
}
