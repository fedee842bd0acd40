// What would move: in a sentence, queue by queue, and member by member.

import { html } from "../html.js";
import { useApp } from "../app.js";
import { number } from "../format.js";
import { Chip } from "../parts/chip.js";
import { Inert, Name, plain } from "../parts/name.js";
import { Empty, Figure, Section } from "../parts/page.js";
import { SimpleTable, VirtualTable } from "../parts/table.js";
import { Term } from "../parts/term.js";
import { queuesText, queueText } from "../ribbon/labels.js";
import { Client, Swatch } from "../ribbon/legend.js";
import { byQueue, queueKey } from "../ribbon/model.js";

const DRAWN_MAX = 128;
const LABELS_MAX = 64;
const CHIPS = { joins: "info", leaves: "warn", stays: "idle" };

export function Result({ plan, looks }) {
  const { t } = useApp();
  const { by_queues: skew } = plan.imbalance;
  const least = plan.even_share?.queues_dropped ?? null;
  const { before, after } = plan.queues_change;
  return html`<div class="stack result">
    <p class="answer" role="status"><strong>${t("whatif.moves", { n: plan.moves.length, all: number(after) })}</strong>
      ${plan.moves.length > 0 && least !== null && html`<span>${plan.queues_dropped <= least
        ? t("whatif.fewest") : t("whatif.fewest_is", { n: least })}</span>`}</p>
    <dl class="figures card">
      <${Figure} label=${t("whatif.told_stop")} value=${number(plan.queues_dropped)} says=${t("whatif.told_stop_says")} />
      <${Figure} label=${html`<${Term} word="skew">${t("group.skew")}<//>`}
        value=${`${number(skew.before.skew)} → ${number(skew.after.skew)}`} says=${t("group.skew_says")} />
      <${Figure} label=${t("whatif.per_member")} value=${`${number(skew.after.least)}–${number(skew.after.most)}`}
        says=${t("whatif.before", { what: `${number(skew.before.least)}–${number(skew.before.most)}` })} />
      <${Figure} label=${t("group.strategy")} value=${plan.strategy_change.after}
        says=${plan.strategy_change.before === plan.strategy_change.after ? "" : t("whatif.before", { what: plan.strategy_change.before })} />
      ${before !== after && html`<${Figure} label=${t("group.queues")} value=${`${number(before)} → ${number(after)}`} />`}
    </dl>
    <${Notes} plan=${plan} />
    <${Section} title=${t("whatif.strip")}><${Tiles} plan=${plan} looks=${looks} /><//>
    <${Section} title=${t("whatif.members_after")}><${MemberPlans} plan=${plan} looks=${looks} /><//>
    <${Section} title=${t("whatif.moves_list", { n: plan.moves.length })}><${PlannedMoves} plan=${plan} looks=${looks} /><//>
  </div>`;
}

function Notes({ plan }) {
  const { t } = useApp();
  const told = [
    ...plan.unassigned_list.length > 0 ? [["bad", `${t("whatif.unassigned")} ${queuesText(plan.unassigned_list)}`]] : [],
    ...plan.gone.length > 0 ? [["warn", `${t("whatif.gone")} ${queuesText(plan.gone)}`]] : [],
    ...plan.failures.map((each) => ["bad", `${each.topic}: ${each.message}`]),
    ...plan.alarms.map((each) => ["warn", each]),
    ...plan.notes.map((each) => ["info", each]),
    ...plan.passing.length > 0 ? [["info", t("whatif.passing", { n: plan.passing.length })]] : [],
  ];
  if (told.length === 0) return null;
  return html`<ul class="notes" aria-label=${t("whatif.notes")}>${told.map(([kind, text]) => html`<li key=${text}>
    <${Chip} kind=${kind}>${t(`whatif.note_${kind}`)}<//> <${Inert}>${text}<//></li>`)}</ul>`;
}

/** Return each queue with its owner before and after: {queue, before, after}. */
export function ownersOf(plan) {
  const byKey = new Map();
  const put = (queue, which, client) => {
    const key = queueKey(queue);
    if (!byKey.has(key)) byKey.set(key, { queue, before: null, after: null });
    byKey.get(key)[which] = client;
  };
  for (const member of plan.member_plans) {
    for (const queue of member.before) put(queue, "before", member.client_id);
    for (const queue of member.after) put(queue, "after", member.client_id);
  }
  for (const queue of [...plan.unassigned_list, ...plan.gone]) if (!byKey.has(queueKey(queue))) put(queue, "after", null);
  return [...byKey.values()].sort((a, b) => byQueue(a.queue, b.queue));
}

// A tile per queue: its owner now above, its owner after below. What moves has a frame.
function Tiles({ plan, looks }) {
  const { t } = useApp();
  const owners = ownersOf(plan);
  const labels = owners.length <= LABELS_MAX;
  const half = (client) => html`<span class="tile-half"><${Swatch} look=${looks.get(client)} />
    ${labels && html`<span class="tile-name">${client === null ? "–" : plain(looks.get(client)?.label ?? client)}</span>`}</span>`;
  return html`<p class="muted">${t("whatif.strip_says")}</p>
    <ul class="tiles" data-labels=${labels}>${owners.map(({ queue, before, after }) => {
      const words = before === after
        ? t("whatif.tile_stays", { queue: plain(queueText(queue)), client: plain(before ?? "–") })
        : t("whatif.tile_moves", { queue: plain(queueText(queue)), from: plain(before ?? "–"), to: plain(after ?? "–") });
      return html`<li key=${queueKey(queue)} class="tile strip" data-moves=${before !== after} title=${words}>
        <span class="visually-hidden">${words}</span>
        <span aria-hidden="true">${labels && html`<span class="tile-id">${queue[2]}</span>`}${half(before)}${half(after)}</span></li>`;
    })}</ul>`;
}

function MemberPlans({ plan, looks }) {
  const { t } = useApp();
  const columns = [
    { key: "client", label: t("members.client"), cell: (each) => html`<${Client} look=${looks.get(each.client_id)}>${each.client_id}<//>
      ${each.membership !== "stays" && html` <${Chip} kind=${CHIPS[each.membership]}>${t(`whatif.${each.membership}_chip`)}<//>`}` },
    { key: "queues", label: t("group.queues"), align: "end", cell: (each) => html`<span class="num nowrap">${each.before.length} → ${each.after.length}</span>` },
    { key: "gained", label: t("whatif.gains"), cell: (each) => html`<${Inert}>${queuesText(each.gained)}<//>` },
    { key: "lost", label: t("whatif.loses"), cell: (each) => html`<${Inert}>${queuesText(each.lost)}<//>` },
  ];
  return html`<${SimpleTable} label=${t("whatif.members_after")} columns=${columns} rows=${plan.member_plans} keyOf=${(each) => each.client_id} />`;
}

function PlannedMoves({ plan, looks }) {
  const { t, href } = useApp();
  if (plan.moves.length === 0) return html`<${Empty}>${t("whatif.moves_nothing")}<//>`;
  const who = (client) => client === null ? html`<span class="muted">${t("queues.nobody")}</span>`
    : html`<${Client} look=${looks.get(client)}>${client}<//>`;
  const columns = [
    { key: "queue", label: t("queues.queue"), cell: ({ queue }) => html`<${Name} href=${href.queue(plan.group, queue)}>${queueText(queue)}<//>` },
    { key: "from", label: t("steps.from"), cell: (move) => who(move.from) },
    { key: "to", label: t("steps.to"), cell: (move) => who(move.to) },
  ];
  const Table = plan.moves.length > DRAWN_MAX ? VirtualTable : SimpleTable;
  return html`<${Table} label=${t("whatif.moves_list", { n: plan.moves.length })} columns=${columns} rows=${plan.moves} className="pairs"
    keyOf=${({ queue }) => queueKey(queue)} />`;
}
