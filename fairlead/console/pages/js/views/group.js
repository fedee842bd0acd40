// A group: is all well, who owns what, what moved and why; now, or at an earlier moment.

import { html, useEffect, useMemo, useRef } from "../html.js";
import { AsOf, Travel } from "../group/travel.js";
import { Feed } from "../group/feed.js";
import { Figures, Standing } from "../group/head.js";
import { Members } from "../group/members.js";
import { isWanted, queueColumns, Queues } from "../group/queues.js";
import { useGroup } from "../group/state.js";
import { Filter } from "../group/filter.js";
import { momentOf, useWindow } from "../group/window.js";
import { CopyButton } from "../parts/button.js";
import { ExportMenu, shellWord } from "../parts/export.js";
import { Kept } from "../parts/kept.js";
import { Name, plain } from "../parts/name.js";
import { Page, Section } from "../parts/page.js";
import { Loading, ProblemBox } from "../parts/problem.js";
import { sorted } from "../parts/table.js";
import { queueText } from "../ribbon/labels.js";
import { queueKey } from "../ribbon/model.js";
import { paletteOf } from "../ribbon/palette.js";
import { Ribbon } from "../ribbon/ribbon.js";

export function title({ params, t }) {
  return t("group.title", { group: plain(params.group) });
}

export default function View({ app, params, query }) {
  const { t } = app;
  const name = params.group;
  const at = momentOf(query);
  const [view, move, travel] = useWindow(app, query);
  const { group, model, version, problem, gone, lookBack } = useGroup(app, name, at, view.from);
  useEffect(() => lookBack(view), [lookBack, view.from, view.to, at, version === 0]);
  const wanted = (query.filter ?? "").toLowerCase();
  const sort = sortOf(query.sort);
  const palette = paletteOf(name);
  const clients = useClients(model, version, group);
  const members = useSame((group?.member_list ?? []).map((each) => each.client_id));
  const looks = useMemo(() => palette.lookOf(clients, members), [clients, members]);
  const rows = useRows(model, version, group, { wanted, sort });
  const onAt = travel;
  const heading = html`<${Name}>${name}<//>`;
  const kicker = html`<a href=${app.href.groups()}>${t("group.kicker")}</a>`;
  if (group === null) {
    return html`<${Page} title=${heading} kicker=${kicker}>
      ${at !== null && !problem && html`<${AsOf} at=${at} onAt=${onAt} waits />`}
      ${problem ? html`<${ProblemBox} problem=${problem} />` : html`<${Loading} />`}
      ${at !== null && problem && html`<${Section} title=${t("travel.title")}>
        <${Travel} model=${model} at=${at} onAt=${onAt} /><//>`}
    <//>`;
  }
  const marks = at === null ? model.marks : model.marks.filter((mark) => mark.append_ms <= at);
  const chief = marks.findLast((mark) => mark.queues_moved > 0) ?? marks.at(-1);
  return html`<${Page} title=${heading} kicker=${kicker} actions=${html`<${Actions} app=${app} group=${group}
    looks=${looks} wanted=${wanted} sort=${sort} />`}>
    ${at !== null && html`<${AsOf} at=${at} onAt=${onAt} waits=${group.at_ms !== at} />`}
    ${problem && html`<${ProblemBox} problem=${problem} />`}
    ${gone && html`<p class="standing" data-kind="warn">${t("group.gone")}</p>`}
    <${Standing} group=${group} mark=${chief} at=${at} />
    <${Figures} group=${group} at=${at} />
    <${Section} title=${t("ribbon.title")} id="ribbon-head" actions=${html`<${Filter} app=${app} query=${query} />`}>
      <p class="muted">${t("ribbon.says")}</p>
      <${Ribbon} group=${name} model=${model} version=${version} rows=${rows} looks=${looks} view=${view}
        onView=${move} at=${at} onAt=${onAt} />
      <${Travel} model=${model} at=${at} onAt=${onAt} />
    <//>
    <${Section} title=${t("members.title_n", { n: group.member_list.length })}>
      <${Kept} of=${[group.member_list, group.queue_list, looks, at]}
        draw=${() => html`<${Members} group=${group} looks=${looks} at=${at} />`} />
    <//>
    <div class="columns">
      <${Section} title=${t("queues.title_n", { n: group.queue_list.length })}>
        <${Queues} group=${group} at=${at} looks=${looks} wanted=${wanted} sort=${sort}
          onSort=${(key) => app.setQuery({ sort: nextSort(sort, key) }, { replace: true })} />
      <//>
      <${Section} title=${t("feed.title")} actions=${html`<${CopyButton} label=${t("feed.cli")} kind="quiet"
        text=${`fairlead moves ${shellWord(name)}`} />`}>
        <${Kept} of=${[version, name, at]} draw=${() => html`<${Feed} name=${name} marks=${marks} />`} />
      <//>
    </div>
  <//>`;
}

// A sort as the address writes it: owner, or -lag for the most first.
function sortOf(text = "queue") {
  return text.startsWith("-") ? { key: text.slice(1), desc: true } : { key: text, desc: false };
}

function nextSort(sort, key) {
  if (sort.key === key) return sort.desc ? key : `-${key}`;
  return key === "lag" ? "-lag" : key;
}

function useClients(model, version, group) {
  const found = useMemo(() => {
    const members = (group?.member_list ?? []).map((each) => each.client_id);
    return [...new Set([...model.clients, ...members])].sort();
  }, [model, version, group?.member_list]);
  return useSame(found);
}

// The same list as before, as long as it has the same texts.
function useSame(list) {
  const kept = useRef(list);
  if (list.length !== kept.current.length || list.some((each, i) => each !== kept.current[i])) {
    kept.current = list;
  }
  return kept.current;
}

// The rows of the ribbon: those that somebody looks for, in the order of the table where it stands.
function useRows(model, version, group, { wanted, sort }) {
  return useMemo(() => {
    const queues = new Map((group?.queue_list ?? []).map((each) => [queueKey(each.queue), each]));
    const found = new Set(model.clients.filter((each) => each.toLowerCase().includes(wanted)));
    const matches = (row) => {
      const queue = queues.get(row.key);
      if (queueText(row.queue).toLowerCase().includes(wanted)) return true;
      if (queue !== undefined && isWanted(queue, wanted)) return true;
      return row.spans.some((span) => found.has(span.client_id));
    };
    const rows = wanted === "" ? model.rows : model.rows.filter(matches);
    if (sort.key !== "owner" && sort.key !== "since" && !(sort.key === "queue" && sort.desc)) return rows;
    const column = {
      key: sort.key,
      value: (row) => {
        const queue = queues.get(row.key);
        if (sort.key === "owner") return queue?.owner ?? null;
        return sort.key === "since" ? (queue?.owner_since_ms ?? null) : queueText(row.queue);
      },
    };
    return sorted(rows, [column], sort);
  }, [model, version, wanted, sort.key, sort.desc]);
}

function Actions({ app, group, looks, wanted, sort }) {
  const { t, href } = app;
  const columns = queueColumns(app, group.group, looks);
  const rows = () => sorted(group.queue_list.filter((each) => isWanted(each, wanted)), columns, sort);
  return html`<a class="btn" data-kind="primary" href=${href.whatIf(group.group)}>${t("group.what_if")}</a>
    <${ExportMenu} name=${`group-${group.group}`} json=${() => group} columns=${columns} rows=${rows}
      cli=${`fairlead group describe ${shellWord(group.group)}`} />`;
}
