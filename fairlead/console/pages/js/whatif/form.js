// The form of a what-if: who joins and leaves, which rules change, how many queues a topic has.

import { html, useState } from "../html.js";
import { useApp } from "../app.js";
import { Button } from "../parts/button.js";
import { Inert, plain } from "../parts/name.js";
import { Client } from "../ribbon/legend.js";
import { queueText } from "../ribbon/labels.js";
import { routesOf, ruleOf, withJoins, withRoute, withRule } from "./change.js";

const STRATEGIES = [
  "STICKY", "AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH", "MACHINE_ROOM", "MACHINE_ROOM_NEARBY", "CONFIG",
];
const DIGITS = "[0-9]{1,9}([.][0-9]{1,6})?";

export function Form({ group, body, onBody, looks }) {
  const { t } = useApp();
  return html`<form class="stack what-if" onSubmit=${(event) => event.preventDefault()}>
    <${Joins} group=${group} body=${body} onBody=${onBody} />
    <${Leaves} group=${group} body=${body} onBody=${onBody} looks=${looks} />
    <fieldset><legend>${t("whatif.strategy")}</legend>
      <label class="field"><span>${t("whatif.strategy_says", { now: group.strategy ?? "–" })}</span>
        <select value=${ruleOf(body, "strategy", null)?.name ?? ""} onChange=${(event) =>
          onBody(withRule(body, "strategy", null, event.target.value ? { name: event.target.value } : null))}>
          <option value="">${t("whatif.as_now")}</option>
          ${STRATEGIES.map((each) => html`<option key=${each} value=${each}>${each}</option>`)}
        </select></label>
    </fieldset>
    <${Weights} group=${group} body=${body} onBody=${onBody} />
    <${Routes} group=${group} body=${body} onBody=${onBody} />
    ${body.unset.length > 0 && html`<p class="muted">${t("whatif.unset", { n: body.unset.length })}${" "}
      <code>${body.unset.map((each) => [each.rule, ...(each.subject ?? [])].join(" ")).join(", ")}</code></p>`}
  </form>`;
}

function Joins({ group, body, onBody }) {
  const { t } = useApp();
  const members = group.member_list.map((each) => each.client_id);
  const put = (i, change) =>
    onBody({ ...body, joins: body.joins.map((each, at) => (at === i ? { ...each, ...change } : each)) });
  const drop = (i) => onBody({ ...body, joins: body.joins.filter((each, at) => at !== i) });
  return html`<fieldset><legend>${t("whatif.joins")}</legend>
    ${body.joins.map((each, i) => html`<div class="row join" key=${i}>
      <label class="field grow"><span>${t("members.client")}</span>
        <input required maxlength="255" value=${each.client_id}
          onChange=${(event) => event.target.value && put(i, { client_id: event.target.value })} /></label>
      <label class="field"><span>${t("members.capacity")}</span>
        <input type="number" min="1" max="1000" value=${each.capacity ?? 1}
          onChange=${(event) => put(i, { capacity: Math.max(1, Math.trunc(Number(event.target.value)) || 1) })} /></label>
      <label class="field"><span>${t("members.zone")}</span>
        <input maxlength="255" value=${each.zone ?? ""} onChange=${(event) => put(i, { zone: event.target.value || null })} /></label>
      <${Button} kind="quiet" aria-label=${t("whatif.drop", { name: plain(each.client_id) })} onClick=${() => drop(i)}>✕<//>
    </div>`)}
    <div class="row">
      <${Button} onClick=${() => onBody(withJoins(body, 1, members))}>${t("whatif.one_joins")}<//>
      <${Button} onClick=${() => onBody(withJoins(body, 2, members))}>${t("whatif.two_join")}<//>
    </div>
  </fieldset>`;
}

function Leaves({ group, body, onBody, looks }) {
  const { t } = useApp();
  const leaves = new Set(body.leaves);
  const here = new Set(group.member_list.map((each) => each.client_id));
  const names = [...here, ...body.leaves.filter((each) => !here.has(each))];
  const leave = (client, goes) =>
    onBody({ ...body, leaves: goes ? [...body.leaves, client] : body.leaves.filter((each) => each !== client) });
  const number = (client) => ruleOf(body, "capacity", [client])?.capacity ?? "";
  return html`<fieldset><legend>${t("whatif.members")}</legend>
    ${names.length === 0 && html`<p class="muted">${t("members.none")}</p>`}
    <ul class="what-if-members">${names.map((client) => html`<li key=${client}>
      <span class="grow"><${Client} look=${looks.get(client)}>${client}<//></span>
      <label class="check"><input type="checkbox" checked=${leaves.has(client)}
        onChange=${(event) => leave(client, event.target.checked)} />${t("whatif.leaves")}
        <span class="visually-hidden"><${Inert}>${client}<//></span></label>
      <label class="check"><input type="checkbox" checked=${ruleOf(body, "drain", [client]) !== undefined}
        onChange=${(event) => onBody(withRule(body, "drain", [client], event.target.checked ? { client_id: client } : null))} />
        ${t("whatif.drain")}<span class="visually-hidden"><${Inert}>${client}<//></span></label>
      <label class="check">${t("members.capacity")}<span class="visually-hidden"><${Inert}>${client}<//></span>
        <input class="narrow" inputmode="decimal" pattern=${DIGITS} value=${number(client)} placeholder=${t("whatif.as_now")}
          onChange=${(event) => event.target.checkValidity() && onBody(withRule(body, "capacity", [client],
            event.target.value ? { client_id: client, capacity: event.target.value } : null))} /></label>
    </li>`)}</ul>
  </fieldset>`;
}

function Weights({ group, body, onBody }) {
  const { t } = useApp();
  const [queue, setQueue] = useState("");
  const texts = new Map(group.queue_list.map((each) => [queueText(each.queue), each.queue]));
  const subject = (each) => each.map(String);
  const set = (each, weight) => onBody(withRule(body, "weight", subject(each), weight === null ? null : { queue: each, weight }));
  const weights = body.rules.filter((each) => each.rule === "weight");
  return html`<fieldset><legend>${t("whatif.weights")}</legend>
    ${weights.map(({ value }) => html`<div class="row" key=${queueText(value.queue)}>
      <label class="check grow"><${Inert}>${queueText(value.queue)}<//>
        <input class="narrow" inputmode="decimal" pattern=${DIGITS} value=${value.weight}
          onChange=${(event) => event.target.value && event.target.checkValidity() && set(value.queue, event.target.value)} /></label>
      <${Button} kind="quiet" aria-label=${t("whatif.drop", { name: plain(queueText(value.queue)) })}
        onClick=${() => set(value.queue, null)}>✕<//></div>`)}
    <div class="row"><label class="field grow"><span>${t("whatif.weight_of")}</span>
      <select value=${queue} onChange=${(event) => setQueue(event.target.value)}>
        <option value="">${t("whatif.choose")}</option>
        ${[...texts.keys()].map((each) => html`<option key=${each} value=${each}>${plain(each)}</option>`)}
      </select></label>
      <${Button} disabled=${!texts.has(queue)} onClick=${() => set(texts.get(queue), "2")}>${t("whatif.weigh")}<//></div>
  </fieldset>`;
}

function Routes({ group, body, onBody }) {
  const { t } = useApp();
  const planned = (topic, broker) => body.routes.find((each) => each.topic === topic && each.broker_name === broker)?.queues;
  return html`<fieldset><legend>${t("whatif.routes")}</legend>
    ${routesOf(group.queue_list).map(({ topic, broker, queues }) => html`<label class="field" key=${`${topic}\n${broker}`}>
      <span><${Inert}>${`${topic}/${broker}`}<//> ${t("whatif.now_queues", { n: queues })}</span>
      <input type="number" min="0" max="100000" value=${planned(topic, broker) ?? queues} onChange=${(event) => {
        const wanted = Math.trunc(Number(event.target.value));
        if (event.target.value === "" || !event.target.checkValidity()) return;
        onBody(withRoute(body, topic, broker, wanted === queues ? null : wanted));
      }} /></label>`)}
  </fieldset>`;
}
