// What is wrong with a native group, what is only unusual, and its rebalances.
import { html } from "../html.js";
import { worded } from "../groups/columns.js";
import { Chip } from "../parts/chip.js";
import { Inert } from "../parts/name.js";
import { Section } from "../parts/page.js";
import { Ago } from "../parts/time.js";

export function Findings({ title, found, none, kind, t }) {
  return html`<${Section} title=${title}>
    ${found.length === 0 && html`<p class="muted">${none}</p>`}
    <ul class="safety-findings">
      ${found.map(
        (each, i) => html`<li key=${i}>
          <div class="row">
            <${Chip} kind=${kind} title=${each.problem}>${worded(t, "finding", each.problem)}<//>
            ${each.for && html`<span class="muted"><${Inert}>${each.for}<//></span>`}
          </div>
          <p><${Inert}>${each.says}<//></p>
          ${each.remedy && html`<p class="safety-remedy"><span class="muted">
            ${t("safety.remedy")}</span> <${Inert}>${each.remedy}<//></p>`}
        </li>`,
      )}
    </ul>
  <//>`;
}

export function Moves({ plans, t }) {
  const range = ({ moves_fewest: fewest, moves_most: most }) =>
    fewest === most ? String(most) : `${fewest}–${most}`;
  const shapes = [
    [plans.shape, plans.own],
    ["STICKY", plans.sticky],
  ].filter(([name, moves], i) => moves && (i > 0 || name !== "STICKY"));
  return html`<${Section} title=${t("native.moves")}>
    <table class="table native-moves"><thead><tr><th scope="col">${t("native.change")}</th>
      ${shapes.map(([name]) => html`<th key=${name} scope="col" data-align="end">${name}</th>`)}
    </tr></thead><tbody>
      ${["join", "leave", "deploy"].map(
        (change) => html`<tr key=${change}><th scope="row">${t(`native.${change}`)}</th>
          ${shapes.map(
            ([name, moves]) => html`<td key=${name} class="num" data-align="end"
              data-label=${name}>${range(moves[change])}</td>`,
          )}</tr>`,
      )}
    </tbody></table>
  <//>`;
}

export function History({ rebalances, t }) {
  return html`<${Section} title=${t("native.rebalances")}>
    ${rebalances.length === 0 && html`<p class="muted">${t("native.none_seen")}</p>`}
    <ul class="safety-facts">
      ${[...rebalances].reverse().map(
        (each) => html`<li key=${each.over_ms}>
          <span class="muted"><${Ago} ms=${each.over_ms} /></span>
          <span><${Inert}>${each.says}<//></span>
        </li>`,
      )}
    </ul>
  <//>`;
}
