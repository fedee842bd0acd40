// Which groups are shown: by a part of the name, a phase, a problem. All of it is in the address.
import { html, useEffect, useRef, useState } from "../html.js";
import { useApp } from "../app.js";
import * as format from "../format.js";
import { Icon } from "../parts/icon.js";
import { worded } from "./columns.js";

const PAUSE_MS = 150;

export function matching(groups, { filter = "", phase = "", problem = "" }) {
  const wanted = filter.trim().toLowerCase();
  return groups.filter(
    (each) =>
      (!wanted || each.group.toLowerCase().includes(wanted)) &&
      (!phase || each.phase === phase) &&
      (!problem ||
        (problem === "any" ? each.problems.length > 0 : each.problems.includes(problem))),
  );
}

// The groups by name, from a map that most changes leave in that order.
export function byName(known) {
  const names = [...known.keys()];
  if (names.every((name, i) => i === 0 || names[i - 1] < name)) return [...known.values()];
  names.sort();
  return names.map((name) => known.get(name));
}

// How many groups there are, and how many of them ask for somebody.
export function Summary({ groups }) {
  const { t, href } = useApp();
  const sum = (key) => groups.reduce((all, each) => all + each[key], 0);
  const troubled = groups.filter((each) => each.problems.length > 0).length;
  const unassigned = sum("queues_unassigned");
  const moving = sum("queues_in_handover");
  return html`<p class="summary">
    <span><strong>${format.number(groups.length)}</strong>${" "}
      ${t("groups.count", { n: groups.length })}</span>
    ${
      troubled > 0
        ? html`<a href=${href.groups({ problem: "any" })} class="summary-bad"><${Icon} name="bad" />
          ${t("groups.troubled", { n: troubled, count: format.number(troubled) })}</a>`
        : groups.length > 0 &&
          html`<span class="summary-ok"><${Icon} name="ok" /> ${t("groups.untroubled")}</span>`
    }
    ${unassigned > 0 && html`<span>
      ${t("groups.sum_unassigned", { n: unassigned, count: format.number(unassigned) })}</span>`}
    ${moving > 0 && html`<span>
      ${t("groups.sum_moving", { n: moving, count: format.number(moving) })}</span>`}
  </p>`;
}

export function Filters({ groups, shown, query, columns, sort }) {
  const app = useApp();
  const { t } = app;
  const set = (change) => app.setQuery(change, { replace: true });
  const phases = present(
    groups.map(({ phase }) => phase),
    query.phase,
  );
  const problems = present(
    groups.flatMap(({ problems: each }) => each),
    query.problem,
  );
  const filtered = Boolean(query.filter || query.phase || query.problem);
  return html`<form class="toolbar filters" role="search"
    onSubmit=${(event) => event.preventDefault()}>
    <${NameFilter} value=${query.filter ?? ""} onChange=${(filter) => set({ filter })} />
    <label class="field"><span>${t("groups.phase")}</span>
      <select value=${query.phase ?? ""} onChange=${(event) => set({ phase: event.target.value })}>
        <option value="">${t("groups.any_phase")}</option>
        ${phases.map((each) => html`<option key=${each} value=${each}
          selected=${each === query.phase}>${worded(t, "phase", each)}</option>`)}
      </select></label>
    <label class="field"><span>${t("groups.problems")}</span>
      <select value=${query.problem ?? ""}
        onChange=${(event) => set({ problem: event.target.value })}>
        <option value="">${t("groups.with_or_without")}</option>
        <option value="any" selected=${query.problem === "any"}>${t("groups.any_problem")}</option>
        ${problems.map((each) => html`<option key=${each} value=${each}
          selected=${each === query.problem}>${worded(t, "finding", each)}</option>`)}
      </select></label>
    <${PhoneSort} columns=${columns} sort=${sort} set=${set} />
    <p class="shown" role="status">${
      filtered &&
      html`
      ${t("groups.shown", {
        n: shown, count: format.number(shown), all: format.number(groups.length),
      })}`
    }</p>
    ${
      filtered &&
      html`<button type="button" class="btn" data-kind="quiet"
      onClick=${() => set({ filter: null, phase: null, problem: null })}>
        ${t("groups.clear")}</button>`
    }
  </form>`;
}

// The values that occur, and the chosen one even if no group has it any more.
function present(values, chosen) {
  const all = new Set(values.filter(Boolean));
  if (chosen && chosen !== "any") all.add(chosen);
  return [...all].sort();
}

// The address follows what is typed after a short pause, so that each key is answered at once.
function NameFilter({ value, onChange }) {
  const { t } = useApp();
  const [text, setText] = useState(value);
  const timer = useRef(null);
  useEffect(() => setText(value), [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const typed = (event) => {
    const next = event.target.value;
    setText(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => onChange(next), PAUSE_MS);
  };
  return html`<label class="field grow name-filter"><span>${t("groups.name_filter")}</span>
    <input type="search" value=${text} onInput=${typed} autocomplete="off" spellcheck=${false} />
  </label>`;
}

// On a phone the rows are cards without a head, so their order is chosen here.
function PhoneSort({ columns, sort, set }) {
  const { t } = useApp();
  const arrow = t(sort.desc ? "groups.descending" : "groups.ascending");
  return html`<div class="phone-sort">
    <label class="field grow"><span>${t("groups.sort")}</span>
      <select value=${sort.key} onChange=${(event) =>
        set({
          sort: event.target.value,
          desc: columns.find(({ key }) => key === event.target.value).descFirst ? 1 : 0,
        })}>
        ${columns.map(({ key, label }) => html`<option key=${key} value=${key}
          selected=${key === sort.key}>${label}</option>`)}
      </select></label>
    <button type="button" class="btn" title=${arrow}
      onClick=${() => set({ sort: sort.key, desc: sort.desc ? 0 : 1 })}>
      <span aria-hidden="true">${sort.desc ? "↓" : "↑"}</span>
      <span class="visually-hidden">${arrow}</span>
    </button>
  </div>`;
}
