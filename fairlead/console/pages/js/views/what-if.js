// What if: who would get which queues if clients joined or left, or if a rule were another.

import { html, useEffect, useMemo, useState } from "../html.js";
import { useGroup } from "../group/state.js";
import { Button } from "../parts/button.js";
import { Name, plain, epochText } from "../parts/name.js";
import { ExportMenu } from "../parts/export.js";
import { Page, Section } from "../parts/page.js";
import { Loading, ProblemBox } from "../parts/problem.js";
import { queueText } from "../ribbon/labels.js";
import { paletteOf } from "../ribbon/palette.js";
import { Apply, Command } from "../whatif/apply.js";
import { asksNothing, bodyOf, textOf } from "../whatif/change.js";
import { Form } from "../whatif/form.js";
import { Result } from "../whatif/result.js";

const SETTLED_MS = 250;

export function title({ params, t }) {
  return t("whatif.title", { group: plain(params.group) });
}

export default function View({ app, params, query }) {
  const { t, href } = app;
  const name = params.group;
  const { group, problem } = useGroup(app, name, null, null);
  const body = useMemo(() => bodyOf(query.plan), [query.plan]);
  const onBody = (next) => app.setQuery({ plan: textOf(next) }, { replace: true });
  const [applied, setApplied] = useState(null);
  const { plan, refused, waits, again } = usePlan(app, name, body);
  const looks = useMemo(() => {
    const members = (group?.member_list ?? []).map((each) => each.client_id);
    const planned = (plan?.member_plans ?? []).map((each) => each.client_id);
    return paletteOf(name).lookOf([...new Set([...members, ...planned])], members);
  }, [group?.member_list, plan]);
  const kicker = html`<a href=${href.groups()}>${t("group.kicker")}</a> / <${Name} href=${href.group(name)}>${name}<//>`;
  const heading = html`${t("whatif.heading")} <${Name}>${name}<//>`;
  if (group === null) {
    return html`<${Page} title=${heading} kicker=${kicker}>
      ${problem ? html`<${ProblemBox} problem=${problem} />` : html`<${Loading} />`}<//>`;
  }
  const stale = plan !== null && plan !== applied && epochText(plan.epoch) !== epochText(group.epoch);
  return html`<${Page} title=${heading} kicker=${kicker} actions=${html`<${Actions} app=${app} name=${name} plan=${plan} onBody=${onBody} />`}>
    <p>${t("whatif.says")}</p>
    <div class="columns what-if-columns">
      <${Section} title=${t("whatif.change")}><${Form} group=${group} body=${body} onBody=${onBody} looks=${looks} /><//>
      <div class="stack">
        ${asksNothing(body) && html`<p class="muted">${t("whatif.nothing")}</p>`}
        ${waits && html`<${Loading} what=${t("whatif.working")} />`}
        ${refused && html`<${ProblemBox} problem=${refused} />`}
        ${stale && html`<p class="row" role="status"><span>${t("whatif.stale_says")}</span>
          <${Button} onClick=${again}>${t("whatif.again")}<//></p>`}
        ${plan !== null && html`<${Result} plan=${plan} looks=${looks} />
          <${Section} title=${t("whatif.carry_out")}>
            <${Command} plan=${plan} />
            <${Apply} group=${name} body=${body} plan=${plan} stale=${stale} onAgain=${again}
              onDone=${() => setApplied(plan)} />
          <//>`}
      </div>
    </div>
  <//>`;
}

const BUSY = 429;
const AGAIN_MS = 2_000;

// The plan of a body: asked for as soon as the body stands still. A plan is told with its body, so
// none is shown or applied for another; who asks too much asks again a little later.
function usePlan(app, name, body) {
  const [told, setTold] = useState({ plan: null, refused: null, body: null });
  const [count, setCount] = useState(0);
  useEffect(() => {
    if (asksNothing(body)) return undefined;
    const stop = new AbortController();
    let timer = null;
    const ask = () => app.api
      .post(`api/v1/groups/${encodeURIComponent(name)}/plan`, body, { signal: stop.signal })
      .then((plan) => setTold({ plan, refused: null, body }))
      .catch((refused) => {
        if (stop.signal.aborted) return;
        if (refused.status === BUSY) timer = setTimeout(ask, AGAIN_MS);
        else setTold({ plan: null, refused, body });
      });
    timer = setTimeout(ask, SETTLED_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [app, name, body, count]);
  const fresh = told.body === body ? told : { plan: null, refused: null };
  const { plan, refused } = asksNothing(body) ? { plan: null, refused: null } : fresh;
  const waits = !asksNothing(body) && plan === null && refused === null;
  return { plan, refused, waits, again: () => setCount(count + 1) };
}

function Actions({ app, name, plan, onBody }) {
  const { t } = app;
  const columns = [
    { key: "queue", value: ({ queue }) => queueText(queue) },
    { key: "from", value: (move) => move.from },
    { key: "to", value: (move) => move.to },
  ];
  return html`<${Button} onClick=${() => onBody(bodyOf(undefined))}>${t("whatif.reset")}<//>
    ${plan && html`<${ExportMenu} name=${`plan-${name}`} json=${() => plan} columns=${columns} rows=${() => plan.moves} cli=${plan.command} />`}`;
}
