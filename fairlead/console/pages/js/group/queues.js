// The queues of a group: who owns each, since when, and how far behind it is.

import { html, useMemo } from "../html.js";
import { useApp } from "../app.js";
import { number, span as length } from "../format.js";
import { Chip } from "../parts/chip.js";
import { Epoch, epochText, Name } from "../parts/name.js";
import { Empty } from "../parts/page.js";
import { SimpleTable, sorted, VirtualTable } from "../parts/table.js";
import { queueText } from "../ribbon/labels.js";
import { Client } from "../ribbon/legend.js";
import { queueKey } from "../ribbon/model.js";
import { Since } from "./since.js";

// So many rows are simply drawn: the browser finds words in them.
const DRAWN_MAX = 128;
const KINDS = { held: "ok", draining: "busy", gated: "busy", unassigned: "bad", unshared: "idle" };

/** Tell whether a queue of a group belongs to what somebody looks for. */
export function isWanted(queue, wanted) {
  if (wanted === "") return true;
  const holders = [...queue.held, ...queue.draining, ...queue.gated].map((each) => each.client_id);
  const texts = [queueText(queue.queue), queue.owner ?? "", queue.state, ...holders];
  return texts.some((text) => text.toLowerCase().includes(wanted));
}

/** Return the columns of queues; `value` is what is sorted by and exported. */
export function queueColumns(app, group, looks, at) {
  const { t, href } = app;
  const who = (holders, key) =>
    holders.map((each) => html`<div class="holder" key=${key + each.client_id}>
      <span class="muted">${t(key)}</span> <${Client} look=${looks.get(each.client_id)}>${each.client_id}<//></div>`);
  return [
    {
      key: "queue",
      label: t("queues.queue"),
      value: ({ queue }) => queueText(queue),
      cell: ({ queue }) => html`<${Name} href=${href.queue(group, queue)}>${queueText(queue)}<//>`,
    },
    {
      key: "owner",
      label: t("queues.owner"),
      value: ({ owner }) => owner,
      cell: (row) => html`${row.owner !== null
        ? html`<${Client} look=${looks.get(row.owner)}>${row.owner}<//>`
        : html`<${Chip} kind=${KINDS[row.state]}>${t("queues.nobody")}<//>`}
        ${who(row.draining, "queues.gives_up")}
        ${who(row.gated.filter((each) => each.client_id !== row.owner), "queues.waits")}`,
    },
    {
      key: "state",
      label: t("queues.state"),
      value: ({ state }) => state,
      cell: ({ state, unsafe }) => html`<${Chip} kind=${unsafe ? "bad" : (KINDS[state] ?? "info")}>
        ${unsafe ? t("queues.unsafe") : t(`state.${state}`)}<//>`,
    },
    {
      key: "since",
      label: t("queues.since"),
      value: (row) => row.owner_since_ms,
      cell: (row) => html`<${Since} ms=${row.owner_since_ms} at=${at} />`,
    },
    {
      key: "epoch",
      label: t("queues.epoch"),
      align: "end",
      value: ({ epoch }) => epochText(epoch),
      cell: ({ epoch }) => html`<${Epoch} epoch=${epoch} />`,
    },
    {
      key: "offset",
      label: t("queues.offset"),
      align: "end",
      value: ({ position }) => (position === null ? null : position[1]),
      cell: ({ position, why }) => html`<span class="num" title=${why ? t(`start_why.${why}`) : undefined}>
        ${position === null ? "–" : number(position[1])}</span>`,
    },
    {
      key: "lag",
      label: t("queues.lag"),
      align: "end",
      value: (row) => row.lag_messages,
      cell: (row) => lag(row),
    },
  ];
}

function lag({ lag_messages: messages, lag_ms: late, lag_at_least: least }) {
  if (messages === null) return "–";
  const sign = least ? "≥ " : "";
  return html`<span class="num nowrap">${sign}${number(messages)}${late ? html`<span class="muted"> · ${length(late)}</span>` : ""}</span>`;
}

export function Queues({ group, looks, wanted, sort, onSort, at }) {
  const app = useApp();
  const columns = useMemo(() => queueColumns(app, group.group, looks, at), [app.t, looks, group.group, at]);
  const rows = useMemo(
    () => sorted(group.queue_list.filter((each) => isWanted(each, wanted)), columns, sort),
    [group.queue_list, wanted, columns, sort.key, sort.desc],
  );
  if (rows.length === 0) {
    return html`<${Empty}>${app.t(wanted === "" ? "queues.none" : "queues.none_found")}<//>`;
  }
  const Table = rows.length > DRAWN_MAX ? VirtualTable : SimpleTable;
  return html`<${Table} label=${app.t("queues.title")} columns=${columns} rows=${rows}
    keyOf=${({ queue }) => queueKey(queue)} sort=${sort} onSort=${onSort} className="queues" />`;
}
