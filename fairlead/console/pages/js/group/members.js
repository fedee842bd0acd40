// The members of a group: what each works on, gives up and waits for, and when it was heard.

import { html, useMemo } from "../html.js";
import { useApp } from "../app.js";
import { number } from "../format.js";
import { Chip } from "../parts/chip.js";
import { Inert, Name } from "../parts/name.js";
import { Empty } from "../parts/page.js";
import { SimpleTable } from "../parts/table.js";
import { queuesText } from "../ribbon/labels.js";
import { Client } from "../ribbon/legend.js";
import { Since } from "./since.js";

const SETS = [
  ["held", "members.owns", "ok"],
  ["draining", "members.gives_up", "busy"],
  ["gated", "members.waits", "busy"],
];

function setsOf(queues) {
  const sets = new Map();
  for (const { queue, ...row } of queues) {
    for (const [set] of SETS) {
      for (const { client_id: client, incarnation } of row[set]) {
        const key = `${client}\n${incarnation}`;
        if (!sets.has(key)) sets.set(key, { held: [], draining: [], gated: [] });
        sets.get(key)[set].push(queue);
      }
    }
  }
  return sets;
}

export function Members({ group, looks, at }) {
  const { t } = useApp();
  const sets = useMemo(() => setsOf(group.queue_list), [group.queue_list]);
  if (group.member_list.length === 0) return html`<${Empty}>${t("members.none")}<//>`;
  const columns = [
    {
      key: "client",
      label: t("members.client"),
      cell: (each) => html`<${Client} look=${looks.get(each.client_id)}>${each.client_id}<//>
        ${each.behind && html` <${Chip} kind="busy" title=${t("members.behind_says")}>${t("members.behind")}<//>`}
        ${each.role !== "consumes" && html` <${Chip} kind="idle">${each.role}<//>`}
        ${each.says && html`<div class="muted"><${Inert}>${each.says}<//></div>`}`,
    },
    {
      key: "queues",
      label: t("members.queues"),
      cell: (each) => html`<${Sets} sets=${sets.get(`${each.client_id}\n${each.incarnation}`)} />`,
    },
    { key: "heard", label: t("members.heard"), cell: (each) => html`<${Since} ms=${each.heard_ms} at=${at} />` },
    { key: "zone", label: t("members.zone"), cell: ({ zone }) => (zone === null ? "–" : html`<${Name}>${zone}<//>`) },
    { key: "capacity", label: t("members.capacity"), align: "end", cell: ({ capacity }) => number(capacity) },
    {
      key: "from",
      label: t("members.from"),
      cell: ({ address, language, version }) =>
        html`<span class="muted"><${Inert}>${[address, language, version].filter(Boolean).join(" · ")}<//></span>`,
    },
  ];
  return html`<${SimpleTable} label=${t("members.title")} columns=${columns} rows=${group.member_list}
    keyOf=${(each) => `${each.client_id}\n${each.incarnation}`} className="members" />`;
}

const SHOWN = 12;

function Sets({ sets }) {
  const { t } = useApp();
  const told = SETS.filter(([set]) => set === "held" || sets?.[set]?.length > 0);
  return html`<dl class="sets">${told.map(([set, key]) => {
    const queues = sets?.[set] ?? [];
    return html`<div key=${set} data-set=${set}><dt>${t(key, { n: queues.length })}</dt>
      <dd><${Inert}>${queues.length > SHOWN * 8 ? `${queuesText(queues.slice(0, SHOWN * 8))} …` : queuesText(queues)}<//></dd></div>`;
  })}</dl>`;
}
