// What led to a decision, each cause with the record that proves it.

import { html } from "../html.js";
import { useApp } from "../app.js";
import { Chip } from "../parts/chip.js";
import { Inert, Name, Place } from "../parts/name.js";
import { Instant } from "../parts/time.js";

const KINDS = { verified: "ok", disagrees: "bad", retention: "idle", compacted: "idle", no_record: "info" };
const SHOWN = 8;

/** The causes of a decision; `open`: the record of the first is shown at once. */
export function Causes({ causes, open = false }) {
  const { t } = useApp();
  if (causes.length === 0) return html`<p class="muted">${t("causes.none")}</p>`;
  return html`<ol class="causes">
    ${causes.slice(0, SHOWN).map((each, i) => html`<${Cause} key=${i} cause=${each} open=${open && i === 0} />`)}
    ${causes.length > SHOWN && html`<li><details><summary>${t("causes.more", { n: causes.length - SHOWN })}</summary>
      <ol class="causes">${causes.slice(SHOWN).map((each, i) => html`<${Cause} key=${i} cause=${each} />`)}</ol>
    </details></li>`}
  </ol>`;
}

function Cause({ cause, open }) {
  const { t } = useApp();
  const { says, status, record, append_ms: written, evidence, by, because } = cause;
  return html`<li class="cause">
    <p class="cause-says"><${Inert}>${says}<//></p>
    ${because && html`<p>${t("causes.because")} <${Name}>${because}<//> <span class="muted">(<${Name}>${by ?? ""}<//>)</span></p>`}
    <p class="row"><${Chip} kind=${KINDS[status] ?? "info"} title=${t(`causes.${status}_says`)}>
      ${t(`causes.${status}`)}<//>
      <span><${Inert}>${record}<//></span>
      ${cause.at && html`<${Place} at=${cause.at} />`}
      ${written !== null && html`<${Instant} ms=${written} />`}</p>
    ${evidence && html`<${Evidence} evidence=${evidence} open=${open} status=${status} />`}
  </li>`;
}

/** A record as it stands in its topic. */
export function Evidence({ evidence, status, open = false }) {
  const { t } = useApp();
  const { at, append_ms: written, key, value, cut } = evidence;
  const lines = (typeof value === "string" ? value : JSON.stringify(value, null, 2)).split("\n");
  return html`<details class="evidence" open=${open}>
    <summary>${t(status === "no_record" ? "causes.last_record" : "causes.record")}</summary>
    <dl class="told">
      <div><dt>${t("causes.topic")}</dt><dd><${Name}>${at[0]}<//></dd></div>
      <div><dt>${t("causes.partition")}</dt><dd>${at[1]}</dd></div>
      <div><dt>${t("causes.offset")}</dt><dd>${at[2]}</dd></div>
      <div><dt>${t("causes.written")}</dt><dd><${Instant} ms=${written} /></dd></div>
      <div><dt>${t("causes.key")}</dt><dd><${Name}>${key ?? ""}<//></dd></div>
    </dl>
    <pre class="told-record" tabindex="0" role="region" aria-label=${t("causes.content")}>${lines.map((line, i) => html`<${Inert} key=${i}>${line}<//>${"\n"}`)}</pre>
    ${cut && html`<p class="muted">${t("causes.cut")}</p>`}
  </details>`;
}
