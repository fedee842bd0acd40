// A decision: why queues moved, with the proof, and how each of them moved.

import { html, useEffect, useMemo, useState } from "../html.js";
import { useApp } from "../app.js";
import { Causes } from "../decision/causes.js";
import { FILE_COLUMNS, Moves } from "../decision/steps.js";
import { number } from "../format.js";
import { Chip, PhaseChip } from "../parts/chip.js";
import { ExportMenu, shellWord } from "../parts/export.js";
import { Epoch, epochText, Inert, Name, Place, plain } from "../parts/name.js";
import { Empty, Figure, Page, Section } from "../parts/page.js";
import { Loading, ProblemBox } from "../parts/problem.js";
import { Term } from "../parts/term.js";
import { Ago, Instant } from "../parts/time.js";
import { paletteOf } from "../ribbon/palette.js";

export function title({ params, t }) {
  return t("decision.title", { group: plain(params.group), offset: params.offset });
}

export default function View({ app, params }) {
  const { t, href } = app;
  const { group, offset } = params;
  const [{ decision, problem }, setTold] = useState({ decision: null, problem: null });
  useEffect(() => {
    const stop = new AbortController();
    const url = `api/v1/groups/${encodeURIComponent(group)}/decisions/${encodeURIComponent(offset)}`;
    app.api
      .get(url, { signal: stop.signal })
      .then((told) => setTold({ decision: told, problem: null }))
      .catch((error) => stop.signal.aborted || setTold({ decision: null, problem: error }));
    return () => stop.abort();
  }, [app, group, offset]);
  const looks = useMemo(() => {
    const clients = (decision?.moves ?? []).flatMap((move) => [move.from, move.to]);
    return paletteOf(group).lookOf([...new Set(clients.filter((each) => each !== null))]);
  }, [group, decision]);
  const kicker = html`<a href=${href.groups()}>${t("group.kicker")}</a> / <${Name} href=${href.group(group)}>${group}<//>`;
  if (decision === null) {
    return html`<${Page} title=${t("decision.heading", { offset })} kicker=${kicker}>
      ${problem ? html`<${ProblemBox} problem=${problem} />` : html`<${Loading} />`}<//>`;
  }
  const heading = html`${t("decision.heading_of", { epoch: epochText(decision.epoch) })}${" "}<${Inert}>${decision.says}<//>`;
  return html`<${Page} title=${heading} kicker=${kicker} actions=${html`<${Actions} app=${app} decision=${decision} />`}>
    <${Head} decision=${decision} />
    <${Section} title=${t("decision.why")}><${Causes} causes=${decision.cause} open />
      ${decision.led_by.map((each) => html`<div class="led-by" key=${each.at.join("/")}>
        <p class="muted">${t("decision.led_by")} <a href=${href.decision(group, each.at[2])}><${Instant} ms=${each.append_ms} /></a></p>
        <${Causes} causes=${each.cause} /></div>`)}
    <//>
    <${Section} title=${t("decision.moves", { n: decision.moves.length })}>
      ${decision.moves.length === 0 ? html`<${Empty}>${t("decision.moved_nothing")}<//>` : html`<${Moves} group=${group} moves=${decision.moves} looks=${looks} />`}
    <//>
    ${decision.failures.length > 0 && html`<${Section} title=${t("decision.failures")} kind="bad"><ul>
      ${decision.failures.map((each) => html`<li key=${each.topic}><${Name}>${each.topic}<//>: <${Inert}>${each.message}<//></li>`)}</ul><//>`}
  <//>`;
}

function Head({ decision }) {
  const { t } = useApp();
  const { skew_before: before, skew_after: after, fewest_moves: fewest, queues_moved: moved } = decision;
  return html`<div class="stack">
    <p><${Instant} ms=${decision.append_ms} />${" "}<span class="muted">(<${Ago} ms=${decision.append_ms} />)</span> · <${Place} at=${decision.at} /></p>
    <dl class="figures card">
      <${Figure} label=${t("decision.moved")} value=${number(moved)} says=${fewestWords(t, moved, fewest)} />
      <${Figure} label=${html`<${Term} word="skew">${t("group.skew")}<//>`}
        value=${`${number(skewOf(before))} → ${number(skewOf(after))}`} says=${t("group.skew_says")} />
      <${Figure} label=${html`<${Term} word="epoch">${t("group.epoch")}<//>`}
        value=${html`<${Epoch} epoch=${decision.previous_epoch} />${" → "}<${Epoch} epoch=${decision.epoch} />`} />
      <${Figure} label=${t("group.strategy")} value=${decision.strategy} />
      <${Figure} label=${t("decision.after")} value=${html`<${PhaseChip} phase=${decision.state.phase} />`}
        says=${t("decision.in_handover", { n: decision.state.in_handover })} />
      ${decision.replays != null && html`<${Figure} label=${t("decision.replays")}
        value=${html`<${Chip} kind=${decision.replays ? "ok" : "bad"}>${t(decision.replays ? "decision.same" : "decision.differs")}<//>`}
        says=${t("decision.replays_says")} />`}
    </dl>
  </div>`;
}

const skewOf = (spread) => (spread === null || spread === undefined ? null : (spread.skew ?? spread));

function fewestWords(t, moved, fewest) {
  if (fewest === null || fewest === undefined) return "";
  const least = typeof fewest === "number" ? fewest : fewest.queues_dropped;
  return moved <= least ? t("decision.fewest") : t("decision.fewest_is", { n: least });
}

function Actions({ app, decision }) {
  const { t, href } = app;
  const { group, previous, next, at } = decision;
  const step = (offset, key) => offset !== null
    ? html`<a class="btn" href=${href.decision(group, offset)}>${t(key)}</a>`
    : html`<button type="button" class="btn" disabled>${t(key)}</button>`;
  return html`${step(previous, "decision.previous")}${step(next, "decision.next")}
    <a class="btn" href=${href.group(group, { at: decision.append_ms })}>${t("ribbon.to_moment")}</a>
    <${ExportMenu} name=${`decision-${group}-${at[2]}`} json=${() => decision}
      columns=${FILE_COLUMNS} rows=${() => decision.moves}
      cli=${`fairlead moves ${shellWord(group)}`} />`;
}
