// Carry out the rules of a plan: by whoever may, with a reason, and only on the group as planned.

import { html, useEffect, useState } from "../html.js";
import { useApp } from "../app.js";
import { useStore } from "../store.js";
import { Button, CopyButton } from "../parts/button.js";
import { Chip } from "../parts/chip.js";
import { Epoch, epochText, Inert, Name } from "../parts/name.js";
import { ProblemBox } from "../parts/problem.js";
import { SimpleTable } from "../parts/table.js";
import { queueText } from "../ribbon/labels.js";
import { queueKey } from "../ribbon/model.js";
import { hasOthers, hasRules } from "./change.js";

const REASON_MAX = 255;

export function Command({ plan }) {
  const { t } = useApp();
  return html`<div class="stack"><p class="muted">${t("whatif.command")}</p>
    <pre class="told-record" tabindex="0" role="region" aria-label=${t("whatif.command")}><${Inert}>${plan.command}<//></pre>
    <div><${CopyButton} text=${plan.command} /></div></div>`;
}

export function Apply({ group, body, plan, stale, onAgain, onDone }) {
  const app = useApp();
  const { t } = app;
  const me = useStore(app.me);
  const [reason, setReason] = useState("");
  const [state, setState] = useState({ busy: false, done: null, problem: null });
  const told = JSON.stringify([body, plan.epoch]);
  useEffect(() => setState({ busy: false, done: null, problem: null }), [told]);
  const send = async (dryRun) => {
    setState({ busy: true, done: null, problem: null });
    const { epoch, moves } = plan;
    try {
      const asked = { ...body, epoch, moves, because: reason.trim(), dry_run: dryRun };
      let notes = [];
      const done = await app.api.post(`api/v1/groups/${encodeURIComponent(group)}/apply`, asked, {
        onNotes: (told) => (notes = told),
      });
      setState({ busy: false, done: { ...done, notes, dry_run: dryRun }, problem: null });
      if (!dryRun) onDone();
    } catch (problem) {
      setState({ busy: false, done: null, problem });
    }
  };
  if (!hasRules(body)) {
    return hasOthers(body) ? html`<p>${t("whatif.others_only")}</p><${Others} body=${body} />` : null;
  }
  if (!(plan.may_operate ?? me?.operates)) {
    return html`<p><${Chip} kind="idle">${t("whatif.read_only")}<//> ${t("whatif.no_right", { who: me?.principal ?? "–" })}</p>`;
  }
  const empty = reason.trim() === "";
  const over = state.busy || empty || (state.done !== null && !state.done.dry_run);
  return html`<div class="stack">
    <p>${t("whatif.guard")} <${Epoch} epoch=${plan.epoch} />${stale && html` <${Chip} kind="warn">${t("whatif.stale")}<//>`}</p>
    ${hasOthers(body) && html`<p>${t("whatif.others_too")}</p><${Others} body=${body} />`}
    <label class="field"><span>${t("whatif.reason")}</span>
      <input required maxlength=${REASON_MAX} value=${reason} onInput=${(event) => setReason(event.target.value)} /></label>
    <div class="row">
      <${Button} disabled=${over} onClick=${() => send(true)}>${t("whatif.try")}<//>
      <${Button} kind="primary" disabled=${over} onClick=${() => send(false)}>
        ${t("whatif.apply", { n: body.rules.length + body.unset.length })}<//>
      ${empty && html`<span class="muted">${t("whatif.reason_needed")}</span>`}
      ${state.busy && html`<span class="muted" role="status">${t("whatif.busy")}</span>`}
    </div>
    ${state.problem && html`<${ProblemBox} problem=${state.problem} />
      ${state.problem.status === 409 && html`<div><${Button} onClick=${onAgain}>${t("whatif.again")}<//></div>`}`}
    ${state.done && html`<${Done} group=${group} done=${state.done} />`}
  </div>`;
}

// Joins, leaves and queues of a topic are not written here: say who does that.
function Others({ body }) {
  const { t } = useApp();
  return html`<ul class="notes">
    ${body.joins.length > 0 && html`<li>${t("whatif.left_joins")} <${Name}>${body.joins.map((each) => each.client_id).join(", ")}<//></li>`}
    ${body.leaves.length > 0 && html`<li>${t("whatif.left_leaves")} <${Name}>${body.leaves.join(", ")}<//></li>`}
    ${body.routes.length > 0 && html`<li>${t("whatif.left_routes")} <${Name}>${body.routes.map((each) => each.topic).join(", ")}<//></li>`}
  </ul>`;
}

const IN_FORCE = new Set(["in_force", "unchanged"]);

/** Return what came of an applied plan: {kind, word}; only what went as planned is called good. */
export function outcomeOf(done) {
  const { dry_run: dryRun, outcomes = [] } = done;
  if (dryRun) return { kind: "info", word: "whatif.tried" };
  if (done.already_applied) return { kind: "ok", word: "whatif.already" };
  if (outcomes.some(({ answer }) => answer === "refused")) return { kind: "bad", word: "whatif.refused" };
  if (outcomes.some(({ answer }) => !IN_FORCE.has(answer))) return { kind: "warn", word: "whatif.unanswered" };
  if (done.came_between) return { kind: "warn", word: "whatif.overtaken" };
  return done.as_planned ? { kind: "ok", word: "whatif.done" } : { kind: "warn", word: "whatif.otherwise" };
}

// What has to be known beside: rules without an answer, causes that nobody planned, and notes.
function Beside({ done }) {
  const { t } = useApp();
  const told = [
    ...done.came_between ? [t("whatif.came_between")] : [],
    ...(done.outcomes ?? []).filter(({ answer }) => !IN_FORCE.has(answer) && !done.dry_run).map((each) =>
      [`${each.rule}: ${t(`whatif.answer_${each.answer}`)}`, each.refused?.detail, each.refused?.remedy].filter(Boolean).join(" ")),
    ...(done.beside ?? []).map((each) => t("whatif.beside", { cause: each })),
    ...done.notes,
    ...(done.left ?? []),
  ];
  return html`<ul class="notes">${told.map((each) => html`<li key=${each}><${Inert}>${each}<//></li>`)}</ul>`;
}

function Done({ group, done }) {
  const { t, href } = useApp();
  const decisions = done.led_to ?? [];
  const moves = done.move_list ?? [];
  const { kind, word } = outcomeOf(done);
  const columns = [
    { key: "queue", label: t("queues.queue"), cell: ({ queue }) => html`<${Name}>${queueText(queue)}<//>` },
    { key: "planned", label: t("whatif.planned"), cell: ({ planned }) => way(planned) },
    { key: "moved", label: t("whatif.moved"), cell: ({ moved }) => way(moved) },
    { key: "verdict", label: t("whatif.verdict"), cell: ({ verdict }) => t(`whatif.verdict_${verdict}`) },
  ];
  return html`<div class="stack" role="status">
    <p><${Chip} kind=${kind}>${t(word)}<//>
      ${decisions.map((each) => html` <a key=${each.at.join("/")} href=${href.decision(group, each.at[2])}>
        ${t("owner.decision")} ${epochText(each.epoch)}</a>`)}
      ${done.as_planned === true && html` ${t("whatif.as_planned")}`}</p>
    <${Beside} done=${done} />
    ${moves.length > 0 && html`<${SimpleTable} label=${t("whatif.outcome")} columns=${columns} rows=${moves} keyOf=${({ queue }) => queueKey(queue)} />`}
  </div>`;
}

const way = (move) => (move == null ? "–" : html`<${Name}>${move.from ?? "–"}<//> → <${Name}>${move.to ?? "–"}<//>`);
