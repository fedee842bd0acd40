// The owners of a queue, the newest first: since when, from where, why, and how it came to them.

import { html } from "../html.js";
import { useApp } from "../app.js";
import { Causes } from "../decision/causes.js";
import { number, span as length } from "../format.js";
import { Chip } from "../parts/chip.js";
import { Epoch, Inert, Name, Place } from "../parts/name.js";
import { Exact } from "../decision/exact.js";
import { Instant, Span } from "../parts/time.js";
import { Client } from "../ribbon/legend.js";

const KINDS = { held: "ok", draining: "busy", gated: "busy", over: "idle" };

export function Owners({ group, owners, looks }) {
  return html`<ol class="owners">${owners.map((each) => html`<li key=${each.epoch.join(".")}>
    <${Owner} group=${group} owner=${each} looks=${looks} /></li>`)}</ol>`;
}

function Owner({ group, owner, looks }) {
  const { t, href } = useApp();
  const { client_id: client, ended_ms: ended, given_by: decision } = owner;
  // While it waited for the one before, that one still had the queue.
  const given = owner.granted_ms ?? owner.given_ms;
  return html`<article class="owner">
    <h3 class="row"><${Client} look=${looks.get(client)}>${client}<//>
      <${Chip} kind=${owner.unsafe ? "bad" : (KINDS[owner.state] ?? "info")}>${t(`owner.${owner.state}`)}<//>
      ${owner.unsafe && html`<${Chip} kind="bad">${t("queues.unsafe")}<//>`}</h3>
    <p>${given === null ? t("ribbon.unremembered") : html`<${Instant} ms=${given} />`}${" – "}
      ${ended === null ? t("ribbon.now") : html`<${Instant} ms=${ended} />`}
      ${given !== null && ended !== null && html`<span class="muted"> (<${Span} ms=${ended - given} />)</span>`}
      ${" · "}${t("ribbon.epoch")}${" "}<${Epoch} epoch=${owner.epoch} />
      ${owner.start_position !== null && html`${" · "}${t("owner.from", { offset: number(owner.start_position[1]) })}
        ${owner.start_why !== null && html`<span class="muted"> (${t(`start_why.${owner.start_why}`)})</span>`}`}</p>
    ${decision === null
      ? html`<p class="muted">${t("owner.no_decision")}</p>`
      : html`<p>${t("owner.by", { n: decision.queues_moved })}${" "}
          <a href=${href.decision(group, decision.at[2])}>${t("owner.decision")} <${Epoch} epoch=${decision.epoch} /></a>, ${t("owner.because")}</p>
        <${Causes} causes=${decision.cause} />`}
    ${owner.led_by.map((each) => html`<div class="led-by" key=${each.at.join("/")}>
      <p class="muted">${t("decision.led_by")} <a href=${href.decision(group, each.at[2])}><${Instant} ms=${each.append_ms} /></a></p>
      <${Causes} causes=${each.cause} /></div>`)}
    ${owner.handover && html`<${Handover} handover=${owner.handover} client=${client} looks=${looks} />`}
  </article>`;
}

function Handover({ handover, client, looks }) {
  const { t } = useApp();
  const { from, gap_ms: gap } = handover;
  return html`<div class="handover"><h4>${t("owner.handover")} <${Client} look=${looks.get(from)}>${from}<//></h4>
    <${GivenUp} told=${handover} />
    ${handover.granted_ms === null
      ? html`<p>${t(handover.by_release ? "owner.by_release" : "owner.still_waits")}</p>`
      : html`<p class="event"><${Exact} ms=${handover.granted_ms} /> <span>${t(handover.by_release ? "owner.granted_begun" : "owner.granted")}${" "}
          <${Name}>${client}<//>${gap !== null && gap >= 0 && html`, ${t("owner.after", { gap: length(gap) })}`}</span></p>`}
    ${gap !== null && gap < 0 && html`<p><${Chip} kind="bad">${t("owner.both", { gap: length(-gap) })}<//></p>`}
  </div>`;
}

/** How an owner gave a queue up: of a handover, or of a loss. */
export function GivenUp({ told }) {
  const { t } = useApp();
  const { from, dropped_ms: dropped, released_ms: released, ended } = told;
  return html`${dropped !== null && html`<p class="event"><${Exact} ms=${dropped} />
      <span>${t("owner.told_stop")} <${Name}>${from}<//></span></p>`}
    ${released !== null && html`<p class="event"><${Exact} ms=${released} /> <span><${Name}>${told.released_by ?? from}<//>${" "}
      ${told.released_offset === null ? t("owner.released_unbegun") : t("owner.released", { offset: number(told.released_offset) })}${" "}
      ${told.released_at && html`<${Place} at=${told.released_at} />`}</span></p>`}
    ${released === null && ended && html`<p class="event"><span></span><span><${Name}>${from}<//>: <${Inert}>${ended}<//></span></p>`}
    ${released === null && !ended && html`<p class="event"><span></span><span>${t(dropped === null ? "owner.not_told" : "owner.not_released")}</span></p>`}`;
}
