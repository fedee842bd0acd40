// What is wrong now, in the words of `fairlead group check`, each with its remedy.
import { html } from "../html.js";
import { useApp } from "../app.js";
import { worded } from "../groups/columns.js";
import { Chip } from "../parts/chip.js";
import { Inert, Name } from "../parts/name.js";
import { Section } from "../parts/page.js";

export const VIOLATION_FIELDS = ["group", "problem", "for", "says", "remedy"].map((key) => ({
  key,
  value: (row) => row[key],
}));

const SHOWN = 200;

export function Violations({ found }) {
  const { t, href } = useApp();
  return html`<${Section} title=${t("safety.violations", { n: found.length })}>
    ${found.length === 0 && html`<p class="muted">${t("safety.no_violations")}</p>`}
    <ul class="safety-findings">
      ${found.slice(0, SHOWN).map(
        (each, i) => html`<li key=${i}>
        <div class="row">
          <${Chip} kind="bad" title=${each.problem}>${worded(t, "finding", each.problem)}<//>
          ${each.group && each.group !== "*" && html`<${Name} href=${href.group(each.group)}>
            ${each.group}<//>`}
          ${each.for && html`<span class="muted"><${Inert}>${each.for}<//></span>`}
        </div>
        <p><${Inert}>${each.says}<//></p>
        ${each.remedy && html`<p class="safety-remedy"><span class="muted">
          ${t("safety.remedy")}</span> <${Inert}>${each.remedy}<//></p>`}
      </li>`,
      )}
    </ul>
    ${found.length > SHOWN && html`<p class="muted">
      ${t("safety.more", { n: found.length - SHOWN })}</p>`}
  <//>`;
}
