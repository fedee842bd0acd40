// The list of groups: those with a problem first, each column sortable, the filter in the address.
import { html, useEffect, useMemo, useRef, useState } from "../html.js";
import { columnsOf, EXPORTED, sortOf } from "../groups/columns.js";
import { Feed, fed } from "../groups/feed.js";
import { byName, Filters, matching, Summary } from "../groups/filters.js";
import { useLive } from "../live.js";
import { ExportMenu } from "../parts/export.js";
import { Inert } from "../parts/name.js";
import { Empty, Page } from "../parts/page.js";
import { Loading, Note, ProblemBox } from "../parts/problem.js";
import { sorted, VirtualTable } from "../parts/table.js";
import { useStore } from "../store.js";

const HISTORY_MS = 300_000;
const keyOf = ({ group }) => group;

export const title = ({ t }) => t("groups.title");

export default function Groups({ app, query }) {
  const { t } = app;
  const { groups, feed, bridges, problem } = useGroups(app);
  const history = useHistory(app);
  const { language } = useStore(app.words);
  const ready = useStore(app.cluster)?.ready ?? false; // an unread cluster is not an empty one
  const columns = useMemo(() => columnsOf(app, history), [language, history]);
  const sort = sortOf(query);
  const table = useRef(null);
  const rows = useOrder(groups, columns, sort, query, table);
  const onSort = (key) => {
    const first = columns.find((column) => column.key === key).descFirst ?? false;
    const desc = sort.key === key ? !sort.desc : first;
    app.setQuery({ sort: key, desc: desc ? 1 : 0 }, { replace: true });
  };
  const actions = html`<${ExportMenu} name="fairlead-groups" json=${() => ({ groups: rows })}
    columns=${EXPORTED} rows=${() => rows} cli="fairlead group list" />`;
  const known = groups !== null && (groups.length > 0 || ready);
  return html`<${Page} title=${t("groups.title")} actions=${known && actions}>
    ${problem && html`<${ProblemBox} problem=${problem} />`}
    ${!known && !problem && html`<${Loading} />`}
    ${
      known &&
      html`<${Standing} groups=${groups} bridges=${bridges} />
        <div class="groups-board">
          <section class="card groups-list" aria-label=${t("groups.list")}>
            <${Summary} groups=${groups} />
            <${Filters} groups=${groups} shown=${rows.length} query=${query} columns=${columns}
              sort=${sort} />
            <div ref=${table}>
              ${rows.length === 0 && html`<${NoRows} any=${groups.length > 0} t=${t} />`}
              ${
                rows.length > 0 &&
                html`<${VirtualTable} columns=${columns} rows=${rows} keyOf=${keyOf} sort=${sort}
                  onSort=${onSort} label=${t("groups.title")} className="groups-table" />`
              }
            </div>
          </section>
          <${Feed} entries=${feed} />
        </div>`
    }
  <//>`;
}

function NoRows({ any, t }) {
  if (any) return html`<${Empty}>${t("groups.none_match")}<//>`;
  return html`<${Empty}><p>${t("groups.none")}</p><p>${t("groups.none_remedy")}</p><//>`;
}

const NOTHING = { groups: null, feed: [], bridges: [], problem: null };

// The groups as the stream tells them; no more is kept than there are groups. Whoever comes back to
// the page sees what was told last, until the stream tells more.
function useGroups(app) {
  const known = useRef(new Map());
  const [told, setTold] = useState(() => app.memory.get("groups") ?? NOTHING);
  const take = (data, lines) => {
    app.learn(data);
    const groups = byName(known.current);
    setTold((was) => {
      const next = { groups, feed: fed(was.feed, lines), bridges: data.bridges, problem: null };
      app.memory.set("groups", next);
      return next;
    });
  };
  useLive(app.live, "api/v1/live", {
    snapshot(data) {
      known.current = new Map(data.groups.map((line) => [line.group, line]));
      take(data, data.groups);
    },
    change(data) {
      for (const line of data.changed) known.current.set(line.group, line);
      for (const name of data.gone) known.current.delete(name);
      take(data, data.changed);
    },
    problem: (problem) => setTold((was) => ({ ...was, problem })),
  });
  return told;
}

function useHistory(app) {
  const [history, setHistory] = useState(null);
  const { paused } = useStore(app.settings);
  useEffect(() => {
    if (paused) return undefined;
    const look = () => {
      if (!document.hidden) app.api.get("api/v1/history").then(setHistory, () => {});
    };
    look();
    const timer = setInterval(look, HISTORY_MS);
    return () => clearInterval(timer);
  }, [paused]);
  return history;
}

// The rows to show. While somebody points at a row or stands in one, rows keep their places, so
// that nothing moves away from under a hand.
function useOrder(groups, columns, sort, query, table) {
  const last = useRef({ wanted: "", names: [] });
  const found = useMemo(() => matching(groups ?? [], query), [groups, query]);
  return useMemo(() => {
    const wanted = JSON.stringify([sort, query]);
    const inUse = table.current?.querySelector("tbody:hover, tbody:focus-within");
    const fresh = sorted(found, columns, sort);
    const rows = inUse && wanted === last.current.wanted ? held(fresh, last.current.names) : fresh;
    last.current = { wanted, names: rows.map(keyOf) };
    return rows;
  }, [found, columns, sort.key, sort.desc]);
}

function held(rows, names) {
  const place = new Map(names.map((name, i) => [name, i]));
  const at = (row) => place.get(row.group) ?? names.length;
  return [...rows].sort((a, b) => at(a) - at(b));
}

// What concerns all groups stands above them: no engine, a bridge that does not run.
function Standing({ groups, bridges }) {
  const silent = groups.find(({ engine, members }) => engine.silent && members > 0);
  const bad = bridges.filter(({ verdict }) => verdict !== "running");
  return html`
    ${silent && html`<${Note} kind="bad"><p><${Inert}>${silent.engine.says}<//></p><//>`}
    ${bad.map(
      ({ cluster, verdict, says }) => html`<${Note} key=${cluster}
      kind=${verdict === "stopped" ? "warn" : "bad"}><p><${Inert}>${says}<//></p><//>`,
    )}
  `;
}
