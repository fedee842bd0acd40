// The legend: which look is which client's, and what hatches and lines mean.

import { html, useMemo } from "../html.js";
import { useApp } from "../app.js";
import { Name } from "../parts/name.js";
import { clientsIn } from "./model.js";

/** A small sample of a client's colour and pattern. */
export function Swatch({ look }) {
  if (look === undefined) return html`<span class="swatch" aria-hidden="true"></span>`;
  return html`<span class="swatch" aria-hidden="true" data-colour=${look.colour}
    data-pattern=${look.pattern}></span>`;
}

/** A client with its sample: the same on every page. */
export function Client({ look, children }) {
  return html`<span class="client"><${Swatch} look=${look} /><${Name}>${children}<//></span>`;
}

const SEEN_MAX = 40;

export function Legend({ rows, version, looks, view }) {
  const { t } = useApp();
  const clients = useMemo(
    () => clientsIn(rows, view.from, view.follows ? Infinity : view.to),
    [rows, version, view.from, view.to],
  );
  const shown = clients.slice(0, SEEN_MAX);
  return html`<div class="legend">
    <h3 class="visually-hidden">${t("ribbon.legend")}</h3>
    <ul class="legend-clients" aria-label=${t("ribbon.legend_clients")}>
      ${shown.map((each) => html`<li key=${each}><${Client} look=${looks.get(each)}>${each}<//>
        ${looks.get(each)?.label !== looks.get(each)?.name &&
        html`<span class="muted"> = <${Name}>${looks.get(each)?.label ?? ""}<//></span>`}</li>`)}
      ${clients.length > SEEN_MAX &&
      html`<li class="muted">${t("ribbon.more_clients", { n: clients.length - SEEN_MAX })}</li>`}
    </ul>
    <ul class="legend-signs" aria-label=${t("ribbon.legend_signs")}>
      <li><span class="sign" data-sign="gap" aria-hidden="true"></span>${t("ribbon.sign_gap")}</li>
      <li><span class="sign" data-sign="silent" aria-hidden="true"></span>${t("ribbon.sign_silent")}</li>
      <li><span class="sign" data-sign="waits" aria-hidden="true"></span>${t("ribbon.sign_waits")}</li>
      <li><span class="sign" data-sign="unsafe" aria-hidden="true"></span>${t("ribbon.sign_unsafe")}</li>
      <li><span class="sign" data-sign="mark" aria-hidden="true"></span>${t("ribbon.sign_mark")}</li>
    </ul>
  </div>`;
}
