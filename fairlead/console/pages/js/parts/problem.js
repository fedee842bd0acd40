// What went wrong, and what to do about it; and that something is on its way.
import { html, useEffect, useState } from "../html.js";
import { useApp } from "../app.js";
import { Icon } from "./icon.js";
import { Inert } from "./name.js";

const PATIENCE_MS = 300;

export function ProblemBox({ problem, children }) {
  const { t } = useApp();
  const unreachable = problem.status === 0 && problem.type;
  const detail = unreachable ? t("problem.unreachable") : problem.detail || problem.title;
  const remedy = unreachable ? t("problem.unreachable_remedy") : problem.remedy;
  const [first, ...more] = String(detail).split("\n");
  return html`<div class="note" data-kind="bad" role="alert">
    <${Icon} name="bad" />
    <div class="stack">
      <p><strong><${Inert}>${first}<//></strong></p>
      ${more.map((line, i) => html`<p key=${i}><${Inert}>${line}<//></p>`)}
      ${remedy && html`<p><${Inert}>${remedy}<//></p>`}
      ${children}
    </div>
  </div>`;
}

// Said only when it takes longer than a person notices.
export function Loading({ what }) {
  const { t } = useApp();
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, []);
  return html`<p class="loading" role="status" aria-busy="true">
    ${late ? (what ?? t("shell.loading")) : ""}</p>`;
}

export function Note({ kind = "info", children }) {
  return html`<div class="note" data-kind=${kind}><${Icon} name=${kind} /><div class="stack">
    ${children}</div></div>`;
}
