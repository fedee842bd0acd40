// The ribbon as a table: the same spans as words, for whoever does not see or does not point.

import { html, useMemo, useState } from "../html.js";
import { useApp } from "../app.js";
import { span as length } from "../format.js";
import { Button } from "../parts/button.js";
import { Epoch, Name } from "../parts/name.js";
import { SimpleTable } from "../parts/table.js";
import { Instant } from "../parts/time.js";
import { queueText } from "./labels.js";
import { Client } from "./legend.js";
import { itemsOf } from "./model.js";
import { gapBefore } from "./tell.js";

const PAGE = 100;

export function RibbonTable({ group, rows, version, view, looks }) {
  const { t } = useApp();
  const [open, setOpen] = useState(false);
  return html`<details class="ribbon-table" onToggle=${(event) => setOpen(event.target.open)}>
    <summary>${t("ribbon.table")}</summary>
    ${open && html`<${Spans} group=${group} rows=${rows} version=${version} view=${view} looks=${looks} />`}
  </details>`;
}

function Spans({ group, rows, version, view, looks }) {
  const app = useApp();
  const { t } = app;
  const [count, setCount] = useState(PAGE);
  const spans = useMemo(() => {
    const all = [];
    // A window that follows the present has moved on since it was chosen.
    const to = view.follows ? Infinity : view.to;
    for (const row of rows) {
      for (const item of itemsOf(row, view.from, to, app.clock.now())) {
        if (item.kind !== "gap") all.push({ row, ...item });
      }
    }
    return all;
  }, [rows, version, view.from, view.to]);
  const columns = columnsOf(app, group, looks);
  return html`<div class="stack">
    <p class="muted">${t("ribbon.table_says", { n: spans.length })}</p>
    <${SimpleTable} label=${t("ribbon.table")} columns=${columns} rows=${spans.slice(0, count)}
      keyOf=${({ row, span }) => `${row.key}\n${span.epoch.join(".")}\n${span.client_id}`} />
    ${spans.length > count && html`<${Button} onClick=${() => setCount(count + PAGE)}>
      ${t("ribbon.table_more", { n: spans.length - count })}<//>`}
  </div>`;
}

function columnsOf({ t, href }, group, looks) {
  const state = ({ kind, span }) => {
    if (kind === "waits") return t("ribbon.sign_waits");
    if (span.silent_since_ms != null) return t("ribbon.sign_silent");
    return span.unsafe ? t("ribbon.sign_unsafe") : "";
  };
  return [
    {
      key: "queue",
      label: t("ribbon.queue"),
      cell: ({ row }) => html`<${Name} href=${href.queue(group, row.queue)}>${queueText(row.queue)}<//>`,
    },
    {
      key: "owner",
      label: t("ribbon.owner"),
      cell: ({ span }) => html`<${Client} look=${looks.get(span.client_id)}>${span.client_id}<//>`,
    },
    { key: "since", label: t("ribbon.since"), cell: ({ span }) => moment(span.begins_ms, t("ribbon.unremembered")) },
    { key: "until", label: t("ribbon.until"), cell: ({ span }) => moment(span.ends_ms, t("ribbon.now")) },
    {
      key: "handover",
      label: t("ribbon.gap_before"),
      align: "end",
      cell: ({ row, span }) => {
        const gap = gapBefore(row, span);
        return gap === null ? "–" : length(gap);
      },
    },
    { key: "epoch", label: t("ribbon.epoch"), align: "end", cell: ({ span }) => html`<${Epoch} epoch=${span.epoch} />` },
    { key: "notes", label: t("ribbon.notes"), cell: state },
  ];
}

const moment = (ms, otherwise) => (ms === null ? otherwise : html`<${Instant} ms=${ms} />`);
