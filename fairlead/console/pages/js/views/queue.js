// A queue: who has it and why, and everybody who had it before.

import { html, useEffect, useMemo, useState } from "../html.js";
import { useApp } from "../app.js";
import { useGroup } from "../group/state.js";
import { useWindow } from "../group/window.js";
import { number, span as length } from "../format.js";
import { GivenUp, Owners } from "../queue/owners.js";
import { Causes } from "../decision/causes.js";
import { Chip } from "../parts/chip.js";
import { ExportMenu, shellWord } from "../parts/export.js";
import { Epoch, epochText, Inert, Name, Place, plain } from "../parts/name.js";
import { Figure, Page, Section } from "../parts/page.js";
import { Button } from "../parts/button.js";
import { Loading, ProblemBox } from "../parts/problem.js";
import { Term } from "../parts/term.js";
import { Ago, Instant, Span } from "../parts/time.js";
import { queueText } from "../ribbon/labels.js";
import { Client } from "../ribbon/legend.js";
import { queueKey } from "../ribbon/model.js";
import { paletteOf } from "../ribbon/palette.js";
import { Ribbon } from "../ribbon/ribbon.js";

const DEPTH = 3;
const DEEPER = 10;

const queueOf = ({ topic, broker, id }) => [topic, broker, id];

export function title({ params, t }) {
  return t("queue.title", { queue: plain(queueText(queueOf(params))), group: plain(params.group) });
}

export default function View({ app, params, query }) {
  const { t, href } = app;
  const { group } = params;
  const queue = queueOf(params);
  const depth = /^\d{1,4}$/.test(query.depth ?? "") ? Number(query.depth) : DEPTH;
  const [view, move] = useWindow(app, query);
  const live = useGroup(app, group, null, view.from);
  useEffect(() => live.lookBack(view), [live.lookBack, view.from, view.to, live.version === 0]);
  const line = live.group?.queue_list.find((each) => queueKey(each.queue) === queueKey(queue));
  const { story, problem, again } = useStory(app, group, queue, { depth, line });
  const looks = useMemo(() => looksOf(group, story, live), [group, story, live.version, live.group?.member_list]);
  const row = live.model.row(queue);
  const rows = useMemo(() => (row === undefined ? [] : [row]), [row, live.version]);
  const kicker = html`<a href=${href.groups()}>${t("group.kicker")}</a> / <${Name} href=${href.group(group)}>${group}<//>`;
  const heading = html`<${Name}>${queueText(queue)}<//>`;
  if (story === null) {
    return html`<${Page} title=${heading} kicker=${kicker}>
      ${problem ? html`<${ProblemBox} problem=${problem} />` : html`<${Loading} />`}<//>`;
  }
  return html`<${Page} title=${heading} kicker=${kicker} actions=${html`<${Actions} app=${app} story=${story} again=${again} />`}>
    ${problem && html`<${ProblemBox} problem=${problem} />`}
    <${Answer} story=${story} looks=${looks} />
    <${Now} story=${{ ...story, ...line }} />
    ${story.loss && html`<${Loss} group=${group} loss=${story.loss} />`}
    ${rows.length > 0 && html`<${Section} title=${t("ribbon.title")}>
      <${Ribbon} group=${group} model=${live.model} version=${live.version} rows=${rows} looks=${looks}
        view=${view} onView=${move} at=${null} onAt=${(at) => app.go(href.group(group, { at }))} /><//>`}
    <${Section} title=${t("queue.owners")}>
      ${story.owners.length === 0 && html`<p class="muted">${t("queue.no_owners")}</p>`}
      <${Owners} group=${group} owners=${story.owners} looks=${looks} />
      ${story.owners_earlier > 0 && html`<${Button}
        onClick=${() => app.setQuery({ depth: depth + DEEPER }, { replace: true })}>
        ${t("queue.earlier", { n: story.owners_earlier })}<//>`}
    <//>
  <//>`;
}

// The story of a queue; `line` is what the stream says of it, and a new owner is a new story.
function useStory(app, group, queue, { depth, line }) {
  const [told, setTold] = useState({ story: null, problem: null });
  const [count, setCount] = useState(0);
  const state = line === undefined ? "" : JSON.stringify([line.owner, line.state, line.epoch, line.decided_at]);
  useEffect(() => {
    const stop = new AbortController();
    const path = [group, "queues", ...queue].map(encodeURIComponent).join("/");
    app.api
      .get(`api/v1/groups/${path}?depth=${depth}`, { signal: stop.signal })
      .then((story) => setTold({ story, problem: null }))
      .catch((error) => stop.signal.aborted || setTold((was) => ({ ...was, problem: error })));
    return () => stop.abort();
  }, [app, group, ...queue, depth, count, state]);
  return { ...told, again: () => setCount(count + 1) };
}

function looksOf(group, story, live) {
  const members = (live.group?.member_list ?? []).map((each) => each.client_id);
  const told = (story?.owners ?? []).flatMap((each) => [each.client_id, each.handover?.from]);
  const clients = [...live.model.clients, ...members, ...told, story?.owner];
  return paletteOf(group).lookOf([...new Set(clients.filter((each) => each != null))], members);
}

// The answer first: who has it, since when, and why, in a sentence.
function Answer({ story, looks }) {
  const { t } = useApp();
  if (story.owner === null) {
    return html`<p class="answer"><${Chip} kind=${story.state === "draining" ? "busy" : "bad"}>${t("queue.nobody")}<//>
      <${Inert}>${story.nobody_because ?? ""}<//></p>`;
  }
  // Since when and why belong to one grant: a client that starts again gets the queue anew.
  const newest = story.owners[0]?.client_id === story.owner ? story.owners[0] : undefined;
  const cause = newest?.given_by?.cause?.[0];
  const since = newest?.granted_ms ?? newest?.given_ms ?? story.owner_since_ms;
  const before = story.owner_since_ms !== null && since - story.owner_since_ms > 1_000;
  return html`<p class="answer"><${Client} look=${looks.get(story.owner)}>${story.owner}<//>
    <span>${t(story.state === "gated" ? "queue.waits_since" : "queue.has_since")} <${Instant} ms=${since} />
    ${cause && html`, ${t("queue.because")} <${Inert}>${cause.says}<//>`}.
    ${before && html`${t("queue.same_since")} <${Instant} ms=${story.owner_since_ms} />.`}</span></p>`;
}

function Now({ story }) {
  const { t } = useApp();
  const { silence, lag_messages: lag } = story;
  const least = story.lag_at_least ? "≥ " : "";
  return html`<dl class="figures card">
    <${Figure} label=${t("queues.state")} value=${t(`state.${story.state}`)}
      says=${story.owner_since_ms !== null && html`${t("group.since")} <${Ago} ms=${story.owner_since_ms} />`}
      kind=${story.unsafe ? "bad" : undefined} />
    <${Figure} label=${html`<${Term} word="epoch">${t("group.epoch")}<//>`} value=${html`<${Epoch} epoch=${story.epoch} />`} />
    <${Figure} label=${t("queues.offset")} value=${number(story.position?.[1] ?? null)}
      says=${story.why ? t(`start_why.${story.why}`) : ""} />
    <${Figure} label=${html`<${Term} word="lag">${t("group.lag")}<//>`} value=${lag === null ? "–" : `${least}${number(lag)}`}
      says=${story.lag_ms === null ? "" : html`<${Span} ms=${story.lag_ms} />`} />
    <${Figure} label=${t("queue.end")} value=${number(story.end)} />
    ${silence && html`<${Figure} kind="bad" label=${t("queue.silence")} value=${length(silence.silent_ms)}
      says=${html`${t("queue.taken_after", { span: length(silence.taken_after_ms) })} <${Place} at=${silence.heard_at} />`} />`}
    ${story.waits_for.length > 0 && html`<${Figure} label=${t("queue.waits_for")} value=${html`<${Name}>${story.waits_for.join(", ")}<//>`} />`}
  </dl>`;
}

function Loss({ group, loss }) {
  const { t, href } = useApp();
  return html`<${Section} title=${html`${t("queue.loss")} <${Name}>${loss.from}<//>`}>
    ${loss.taken_by && html`<p>${t("owner.taken")} <a href=${href.decision(group, loss.taken_by.at[2])}>
      ${t("owner.decision")} ${epochText(loss.taken_by.epoch)}</a>, ${t("owner.because")}</p>
      <${Causes} causes=${loss.taken_by.cause} />`}
    <${GivenUp} told=${loss} /><//>`;
}

function Actions({ app, story, again }) {
  const { t } = app;
  const queue = queueText(story.queue);
  const columns = ["client_id", "epoch", "state", "given_ms", "granted_ms", "dropped_ms", "ended_ms", "start_why"].map(
    (key) => ({ key, label: key, value: (owner) => owner[key] }),
  );
  return html`<${Button} onClick=${again}>${t("queue.again")}<//>
    <${ExportMenu} name=${`queue-${story.group}-${queue}`} json=${() => story} columns=${columns} rows=${() => story.owners}
      cli=${`fairlead explain ${shellWord(story.group)} --queue ${shellWord(queue)}`} />`;
}
