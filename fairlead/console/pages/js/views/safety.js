// Whether all is safe and how that is known: one sentence, then the figures, then what is wrong.
import { html, useState } from "../html.js";
import { useLive } from "../live.js";
import { ExportMenu } from "../parts/export.js";
import { Icon } from "../parts/icon.js";
import { Inert } from "../parts/name.js";
import { Figure, Page, Section } from "../parts/page.js";
import { Loading, ProblemBox } from "../parts/problem.js";
import { Instant, Span } from "../parts/time.js";
import { Ago } from "../parts/time.js";
import { Chip } from "../parts/chip.js";
import * as format from "../format.js";
import { Rejects } from "../safety/rejects.js";
import { Violations, VIOLATION_FIELDS } from "../safety/violations.js";
import { verdictOf } from "../safety/verdict.js";

const LOOK_MS = 5_000;

export const title = ({ t }) => t("safety.title");

export default function Safety({ app }) {
  const { t } = app;
  const [told, setTold] = useState(null);
  const [problem, setProblem] = useState(null);
  useLive(
    app.live,
    "api/v1/safety",
    {
      snapshot(data) {
        app.learn(data);
        setTold(data);
        setProblem(null);
      },
      problem: setProblem,
    },
    LOOK_MS,
  );
  const actions =
    told &&
    html`<${ExportMenu} name="fairlead-safety" json=${() => told}
    columns=${VIOLATION_FIELDS} rows=${() => told.violations} cli="fairlead group check --all" />`;
  return html`<${Page} title=${t("safety.title")} actions=${actions}>
    ${problem && html`<${ProblemBox} problem=${problem} />`}
    ${told ? html`<${Told} told=${told} t=${t} />` : !problem && html`<${Loading} />`}
  <//>`;
}

function Told({ told, t }) {
  return html`
    <${Sentence} told=${told} t=${t} />
    <${Section} title=${t("safety.handovers")}><${Figures} told=${told} t=${t} /><//>
    <${Violations} found=${told.violations} />
    <div class="grid-cards">
      <${Section} title=${t("safety.groups")}><${Verdicts} verdicts=${told.verdicts} t=${t} /><//>
      <${Section} title=${t("safety.programs")}><${Programs} told=${told} t=${t} /><//>
    </div>
    <${Rejects} rejects=${told.rejects} />
  `;
}

// The sentence is read aloud when it changes, and only then.
function Sentence({ told, t }) {
  const { kind, says, why } = verdictOf(told, t);
  return html`<div class="safety-verdict verdict" data-kind=${kind}>
    <${Icon} name=${kind} />
    <div class="stack">
      <p class="safety-says" role="status">${says}</p>
      <p>${why}</p>
      ${told.as_of_ms > 0 && html`<p class="muted">
        ${t("safety.seen_since")} <${Instant} ms=${told.since_ms} />.${" "}
        ${t("safety.as_of")} <${Ago} ms=${told.as_of_ms} />.</p>`}
    </div>
  </div>`;
}

function Figures({ told: { handovers, overlaps }, t }) {
  const figure = (key, value, kind) => html`<${Figure} key=${key} label=${t(`safety.${key}`)}
    value=${value} says=${t(`safety.${key}_says`)} kind=${kind} />`;
  const count = (key) => figure(key, format.number(handovers[key]));
  const wrong = (key, n) => figure(key, format.number(n), n > 0 ? "bad" : undefined);
  return html`<dl class="figures">
    ${count("checked")}
    ${figure("smallest_gap", html`<${Span} ms=${handovers.smallest_gap_ms} />`)}
    ${count("by_release")} ${count("by_lease")} ${count("otherwise")}
    ${wrong("unsafe", handovers.unsafe)} ${wrong("overlaps", overlaps)}
  </dl>`;
}

const VERDICT_KINDS = { safe: "ok", nobody: "idle", problems: "bad", unreadable: "bad" };

function Verdicts({ verdicts, t }) {
  return html`<ul class="safety-facts">
    ${Object.entries(VERDICT_KINDS).map(([verdict, kind]) => {
      const n = verdicts[verdict] ?? 0;
      return html`<li key=${verdict}>
        <${Chip} kind=${n > 0 ? kind : "idle"}>${t(`safety.verdict_${verdict}`)}<//>
        <strong class="num">${format.number(n)}</strong>
        <span class="muted">${t(`safety.verdict_${verdict}_says`)}</span>
      </li>`;
    })}
  </ul>`;
}

const BRIDGE_KINDS = { running: "ok", stopped: "warn" };

function Programs({ told: { engine, bridges }, t }) {
  const ticks = engine !== null && !engine.silent;
  return html`<ul class="safety-facts">
    <li>
      <${Chip} kind=${ticks ? "ok" : "bad"}>
        ${t(ticks ? "safety.engine_ticks" : "safety.engine_silent")}<//>
      <strong>${t("safety.engine")}</strong><span class="muted">
        ${engine ? html`<${Inert}>${engine.says}<//>` : t("safety.engine_unseen")}</span>
    </li>
    ${bridges.map(
      ({ cluster, verdict, says }) => html`<li key=${cluster}>
      <${Chip} kind=${BRIDGE_KINDS[verdict] ?? "bad"}>${t(`safety.bridge_${verdict}`)}<//>
      <strong>${t("safety.bridge")} <${Inert}>${cluster}<//></strong><span class="muted">
        <${Inert}>${says}<//></span>
    </li>`,
    )}
    ${bridges.length === 0 && html`<li class="muted">${t("safety.no_bridge")}</li>`}
  </ul>`;
}
