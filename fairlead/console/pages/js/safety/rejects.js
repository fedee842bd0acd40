// Records that the engine refused: what was wrong, what helps, and their first bytes as plain text.
import { html } from "../html.js";
import { useApp } from "../app.js";
import * as format from "../format.js";
import { Inert, Name, Place } from "../parts/name.js";
import { Section } from "../parts/page.js";
import { Ago } from "../parts/time.js";

export function Rejects({ rejects: { total_seen: total, newest } }) {
  const { t } = useApp();
  return html`<${Section} title=${t("safety.rejects", { n: total, count: format.number(total) })}>
    ${newest.length === 0 && html`<p class="muted">${t("safety.no_rejects")}</p>`}
    <ul class="safety-findings">
      ${newest.map((each) => html`<${Rejected} key=${each.reject_at.join("/")} each=${each}
        t=${t} />`)}
    </ul>
  <//>`;
}

function Rejected({ each, t }) {
  const { href } = useApp();
  return html`<li>
    <div class="row">
      <strong class="mono"><${Inert}>${each.reason}<//></strong>
      ${each.field && html`<span class="muted">
        ${t("safety.field")} <span class="mono"><${Inert}>${each.field}<//></span></span>`}
      ${each.group && html`<${Name} href=${href.group(each.group)}>${each.group}<//>`}
      <span class="muted"><${Place} at=${each.at} /></span>
      <span class="muted"><${Ago} ms=${each.reject_ms} /></span>
    </div>
    <p><${Inert}>${each.detail}<//></p>
    ${each.remedy && html`<p class="safety-remedy"><span class="muted">
      ${t("safety.remedy")}</span> <${Inert}>${each.remedy}<//></p>`}
    <${Bytes} each=${each} t=${t} />
  </li>`;
}

function Bytes({ each, t }) {
  const start = each.excerpt ?? each.excerpt_base64;
  const key = each.key ?? each.key_base64;
  if (start == null && key == null) return null;
  return html`<details>
    <summary>${t("safety.record")} <span class="muted">${format.bytes(each.size)}</span></summary>
    <dl class="safety-record">
      ${key != null && html`<dt>${t(each.key == null ? "safety.key_base64" : "safety.key")}</dt>
        <dd class="mono"><${Inert}>${key}<//></dd>`}
      ${
        start != null &&
        html`<dt>${t(each.excerpt == null ? "safety.value_base64" : "safety.value")}</dt>
        <dd class="mono"><${Inert}>${start}<//>${each.excerpt_cut ? " …" : ""}</dd>`
      }
      ${each.sha256 && html`<dt>SHA-256</dt><dd class="mono">${each.sha256}</dd>`}
    </dl>
  </details>`;
}
