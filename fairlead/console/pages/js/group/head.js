// The head of a group: what is wrong first, then how it stands, and what was decided last.

import { html, useEffect, useState } from "../html.js";
import { useApp } from "../app.js";
import { useNow } from "../clock.js";
import { number, span as length } from "../format.js";
import { worded } from "../groups/columns.js";
import { Chip, PhaseChip } from "../parts/chip.js";
import { Epoch, Inert } from "../parts/name.js";
import { Figure } from "../parts/page.js";
import { Term } from "../parts/term.js";
import { Span } from "../parts/time.js";
import { Since } from "./since.js";

const CHECK_MS = 10_000;

/** What is wrong, each with its remedy, or that nothing is; and what was decided last. */
export function Standing({ group, mark, at }) {
  const app = useApp();
  const { t } = app;
  const problems = useProblems(app, group, at);
  const kind = problems.length > 0 ? "bad" : busy(group) ? "busy" : "ok";
  return html`<section class="standing" data-kind=${kind} aria-labelledby="standing-head">
    <h2 id="standing-head" class="visually-hidden">${t("group.standing")}</h2>
    ${problems.length === 0
      ? html`<p class="standing-says"><${Chip} kind=${kind}>${t(kind === "busy" ? "group.moving" : "group.safe")}<//>
          <span>${sentence(t, group)}</span></p>`
      : html`<p class="standing-says"><${Chip} kind="bad">${t("group.problems", { n: problems.length })}<//></p>
          <ul class="problem-list">${problems.map((each) => html`<li key=${`${each.problem}\n${each.for}`}>
            <strong><${Inert}>${each.says ?? worded(t, "finding", each.problem)}<//></strong>
            ${each.remedy && html`<span><span class="muted">${t("group.remedy")}${" "}</span><${Inert}>${each.remedy}<//></span>`}
          </li>`)}</ul>`}
    <${LastDecision} name=${group.group} mark=${mark} at=${at} />
  </section>`;
}

// What is wrong, in words and with what helps; of a moment of the past only the words are known.
function useProblems(app, group, at) {
  const words = group.problems;
  const [told, setTold] = useState([]);
  const now = useNow(app.clock, CHECK_MS);
  const live = at === null && words.length > 0;
  useEffect(() => {
    if (!live) return undefined;
    const stop = new AbortController();
    app.api
      .get(`api/v1/groups/${encodeURIComponent(group.group)}/check`, { signal: stop.signal })
      .then((verdict) => setTold(verdict.problem_list))
      .catch(() => stop.signal.aborted || setTold([]));
    return () => stop.abort();
  }, [app, group.group, words.join(" "), live, Math.floor(now / CHECK_MS)]);
  if (words.length === 0) return [];
  const known = live ? told.filter((each) => words.includes(each.problem)) : [];
  const seen = new Set(known.map((each) => each.problem));
  return [...known, ...words.filter((each) => !seen.has(each)).map((problem) => ({ problem, for: null }))];
}

// In these phases RocketMQ's own strategy shares the queues out: that nobody has a grant is no fault.
const NATIVE = ["standby", "taking_over"];
const busy = (group) => group.queues_in_handover + group.queues_unassigned > 0;

function sentence(t, group) {
  if (group.queues_in_handover > 0) return t("group.safe_handover", { n: group.queues_in_handover });
  if (group.members === 0) return t("group.safe_nobody");
  if (NATIVE.includes(group.phase)) return t(`phase.${group.phase}_says`);
  if (group.queues_unassigned > 0) return t("group.safe_unassigned", { n: group.queues_unassigned });
  return t("group.safe_says", { n: group.queues });
}

export function Figures({ group, at }) {
  const { t } = useApp();
  const { lag_messages: lag, lag_ms: late } = group;
  const least = group.lag_at_least ? "≥ " : "";
  return html`<dl class="figures card">
    <${Figure} label=${t("group.phase")} value=${html`<${PhaseChip} phase=${group.phase} />`}
      says=${html`${t("group.since")} <${Since} ms=${group.phase_since_ms} at=${at} />`} />
    <${Figure} label=${t("group.members")} value=${number(group.members)}
      says=${t("group.idle", { n: group.members_idle })} kind=${group.members === 0 ? "bad" : undefined} />
    <${Figure} label=${t("group.queues")} value=${number(group.queues)}
      says=${t("group.unassigned", { n: group.queues_unassigned })}
      kind=${group.queues_unassigned > 0 && !NATIVE.includes(group.phase) ? "bad" : undefined} />
    <${Figure} label=${html`<${Term} word="lag">${t("group.lag")}<//>`} value=${lag === null ? "–" : `${least}${number(lag)}`}
      says=${late === null ? t("group.lag_unknown") : html`${least}<${Span} ms=${late} />`} />
    <${Figure} label=${html`<${Term} word="strategy">${t("group.strategy")}<//>`} value=${group.strategy ?? "–"}
      says=${group.mode ?? ""} />
    <${Figure} label=${html`<${Term} word="skew">${t("group.skew")}<//>`} value=${number(group.skew)} says=${t("group.skew_says")} />
    <${Figure} label=${html`<${Term} word="epoch">${t("group.epoch")}<//>`} value=${html`<${Epoch} epoch=${group.epoch} />`}
      says=${group.engine.silent ? t("group.engine_silent", { span: length(group.engine.silent_ms) }) : t("group.engine_runs")}
      kind=${group.engine.silent ? "bad" : undefined} />
  </dl>`;
}

// What was decided last, in words; `mark` is its mark on the ribbon.
function LastDecision({ name, mark, at }) {
  const { t, href } = useApp();
  if (mark === undefined) return html`<p class="muted">${t("group.no_decision")}</p>`;
  return html`<p class="last-decision"><span class="muted">${t("group.last")}</span>${" "}
    <strong><${Inert}>${mark.says}<//></strong>${" · "}${t("group.moved", { n: mark.queues_moved })}${" · "}
    <${Since} ms=${mark.append_ms} at=${at} />${" · "}
    <a href=${href.decision(name, mark.at[2])}>${t("group.why")}</a></p>`;
}
