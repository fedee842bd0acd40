// The groups that Kafka and RocketMQ share out by themselves: read only, as the newest looks saw them.
import { html, useMemo, useState } from "../html.js";
import { useLive } from "../live.js";
import { EXPORTED, groupColumns } from "../native/columns.js";
import { ExportMenu } from "../parts/export.js";
import { Inert } from "../parts/name.js";
import { Empty, Page } from "../parts/page.js";
import { Loading, Note, ProblemBox } from "../parts/problem.js";
import { sorted, VirtualTable } from "../parts/table.js";
import { Ago } from "../parts/time.js";
import { useStore } from "../store.js";

const LOOK_MS = 5_000;
const keyOf = ({ native, group }) => `${native} ${group}`;

export const title = ({ t }) => t("native.title");

export default function Native({ app, query }) {
  const { t } = app;
  const [told, setTold] = useState(null);
  const [problem, setProblem] = useState(null);
  useLive(
    app.live,
    "api/v1/native",
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
  const rows = told?.native_groups ?? [];
  const actions =
    told &&
    html`<${ExportMenu} name="fairlead-native-groups" json=${() => told} columns=${EXPORTED}
      rows=${() => rows} cli="fairlead group list --native" />`;
  return html`<${Page} title=${t("native.title")} actions=${actions}>
    ${problem && html`<${ProblemBox} problem=${problem} />`}
    ${!told && !problem && html`<${Loading} />`}
    ${told && html`<${Sources} sources=${told.native_sources} t=${t} />
      <${List} app=${app} rows=${rows} query=${query} />`}
  <//>`;
}

// Where each cluster is, how old what is shown of it is, and what could not be seen.
function Sources({ sources, t }) {
  if (sources.length === 0) return html`<${Note}><p>${t("native.no_source")}</p><//>`;
  return html`
    <p class="muted">${t("native.says")}</p>
    <ul class="native-sources">${sources.map(
      ({ native, native_address: at, seen_ms: seen }) => html`<li key=${native}>
        <strong>${t(`native.${native}`)}</strong> <span class="mono"><${Inert}>${at}<//></span>${" "}
        ${seen === null ? t("native.unseen") : html`${t("native.looked")} <${Ago} ms=${seen} />`}
      </li>`,
    )}</ul>
    ${sources.map(
      ({ native, trouble, unheard }) =>
        (trouble || unheard.length > 0) &&
        html`<${Note} key=${native} kind=${trouble ? "bad" : "warn"}>
          <p>${t(trouble ? "native.not_seen" : "native.in_part", { kind: t(`native.${native}`) })}</p>
          ${[...(trouble ? [trouble] : []), ...unheard].map(
            (each) => html`<p key=${each}><${Inert}>${each}<//></p>`,
          )}
        <//>`,
    )}`;
}

function List({ app, rows, query }) {
  const { t } = app;
  const { language } = useStore(app.words);
  const columns = useMemo(() => groupColumns(app), [language]);
  const sort = query.sort
    ? { key: query.sort, desc: query.desc === "1" }
    : { key: "verdict", desc: true };
  const onSort = (key) => {
    const first = columns.find((column) => column.key === key).descFirst ?? false;
    const desc = sort.key === key ? !sort.desc : first;
    app.setQuery({ sort: key, desc: desc ? 1 : 0 }, { replace: true });
  };
  const shown = useMemo(() => sorted(rows, columns, sort), [rows, columns, sort.key, sort.desc]);
  if (rows.length === 0) return html`<${Empty}>${t("native.none")}<//>`;
  return html`<section class="card" aria-label=${t("native.title")}>
    <${VirtualTable} columns=${columns} rows=${shown} keyOf=${keyOf} sort=${sort} onSort=${onSort}
      label=${t("native.title")} className="native-table" /></section>`;
}
