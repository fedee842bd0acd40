// A native group as the newest look saw it: members, queues, what is wrong, what changes would move.
import { html, useMemo, useState } from "../html.js";
import { useLive } from "../live.js";
import * as format from "../format.js";
import { memberColumns, queueColumns, Verdict } from "../native/columns.js";
import { Findings, History, Moves } from "../native/findings.js";
import { ExportMenu, shellWord } from "../parts/export.js";
import { Name, plain } from "../parts/name.js";
import { Figure, Page, Section } from "../parts/page.js";
import { Loading, ProblemBox } from "../parts/problem.js";
import { SimpleTable, sorted, VirtualTable } from "../parts/table.js";
import { useStore } from "../store.js";

const LOOK_MS = 5_000;

export const title = ({ params, t }) => t("native.title_of", { group: plain(params.group) });

export default function NativeGroup({ app, params, query }) {
  const { t, href } = app;
  const { native, group } = params;
  const [told, setTold] = useState(null);
  const [problem, setProblem] = useState(null);
  useLive(
    app.live,
    `api/v1/native/${encodeURIComponent(native)}/groups/${encodeURIComponent(group)}`,
    {
      snapshot(data) {
        setTold(data);
        setProblem(null);
      },
      problem: setProblem,
    },
    LOOK_MS,
  );
  const kicker = html`<a href=${href.native()}>${t("native.kicker")}</a>`;
  const heading = html`<${Name}>${group}<//>`;
  const actions =
    told &&
    html`<${ExportMenu} name=${`native-${group}`} json=${() => told}
      columns=${QUEUE_FIELDS} rows=${() => told.queue_list}
      cli=${`fairlead group describe ${shellWord(group)} --native ${native}`} />`;
  return html`<${Page} title=${heading} kicker=${kicker} actions=${actions}>
    ${problem && html`<${ProblemBox} problem=${problem} />`}
    ${!told && !problem && html`<${Loading} />`}
    ${told && html`<${Told} app=${app} told=${told} query=${query} />`}
  <//>`;
}

const QUEUE_FIELDS = ["queue", "owner_ids", "committed_offset", "end_offset", "lag_messages"].map(
  (key) => ({ key, value: (row) => row[key] }),
);

function Told({ app, told, query }) {
  const { t } = app;
  return html`
    <${Figures} told=${told} t=${t} />
    <${Findings} title=${t("groups.problems")} found=${told.problem_list} kind="bad"
      none=${t("native.no_problem")} t=${t} />
    ${told.note_list.length > 0 && html`<${Findings} title=${t("native.notes")}
      found=${told.note_list} kind="warn" t=${t} />`}
    <${Members} app=${app} told=${told} />
    <${Queues} app=${app} told=${told} query=${query} />
    <div class="grid-cards">
      ${told.what_if && html`<${Moves} plans=${told.what_if} t=${t} />`}
      <${History} rebalances=${told.rebalance_list} t=${t} />
    </div>`;
}

function Figures({ told, t }) {
  const count = (key, label, kind) => html`<${Figure} label=${label}
    value=${format.number(told[key])} kind=${kind && told[key] > 0 ? kind : undefined} />`;
  const shared = [told.protocol, told.native_state, ...told.assignors];
  return html`<dl class="figures card">
    <${Figure} label=${t("native.kind")} value=${t(`native.${told.native}`)}
      says=${html`<${Name}>${shared.filter(Boolean).join(", ")}<//>`} />
    <${Figure} label=${t("native.verdict")} value=${html`<${Verdict} group=${told} t=${t} />`} />
    ${count("members", t("groups.members"))}
    ${count("members_idle", t("native.idle"))}
    ${count("queues", t("groups.queues"))}
    ${count("queues_unassigned", t("groups.queues_unassigned"), "bad")}
    ${count("queues_shared", t("native.shared"), "bad")}
    ${count("lag_messages", t("group.lag"))}
    ${count("rebalances_seen", t("native.rebalances"))}
  </dl>`;
}

function Members({ app, told }) {
  const { t } = app;
  const { language } = useStore(app.words);
  const columns = useMemo(() => memberColumns(app), [language]);
  const rows = told.member_list.map((each) => ({
    ...each,
    queues: each.silent_because ? null : each.queue_list.length,
  }));
  return html`<${Section} title=${t("members.title_n", { n: rows.length })}>
    ${rows.length === 0 && html`<p class="muted">${t("members.none")}</p>`}
    ${
      rows.length > 0 &&
      html`<${SimpleTable} columns=${columns} rows=${rows} keyOf=${({ member_id: id }) => id}
        label=${t("members.title")} />`
    }
  <//>`;
}

function Queues({ app, told, query }) {
  const { t } = app;
  const { language } = useStore(app.words);
  const columns = useMemo(() => queueColumns(app, told.member_list), [language, told]);
  const sort = { key: query.sort ?? "queue", desc: query.desc === "1" };
  const onSort = (key) => {
    const desc = sort.key === key ? !sort.desc : Boolean(columns.find((c) => c.key === key).descFirst);
    app.setQuery({ sort: key, desc: desc ? 1 : 0 }, { replace: true });
  };
  const rows = useMemo(
    () => sorted(told.queue_list, columns, sort),
    [told, columns, sort.key, sort.desc],
  );
  return html`<${Section} title=${t("queues.title_n", { n: rows.length })}>
    ${rows.length === 0 && html`<p class="muted">${t("queues.none")}</p>`}
    ${
      rows.length > 0 &&
      html`<${VirtualTable} columns=${columns} rows=${rows} sort=${sort} onSort=${onSort}
        keyOf=${({ queue }) => queue.join(" ")} label=${t("queues.title")} />`
    }
  <//>`;
}
