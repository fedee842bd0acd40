// Tables. The long one draws the rows that are seen, so two thousand cost no more than fifty.
import { html, useEffect, useLayoutEffect, useRef, useState } from "../html.js";

const MORE = 6; // rows that are drawn above and below those that are seen
const FIRST = 24; // rows that are drawn before anything was measured

// columns: {key, label, value(row), cell(row), align, className, sortable}; sort: {key, desc}.
export function VirtualTable({ columns, rows, keyOf, sort, onSort, label, className = "" }) {
  const body = useRef(null);
  const { focused, onFocus, onBlur } = useFocusedRow(body);
  const { from, to, height } = useWindow(body, rows.length);
  const kept = focused === null ? -1 : rows.findIndex((row) => keyOf(row) === focused);
  const shown = drawnRows(from, to, kept, rows.length);
  return html`<table class=${`table virtual ${className}`} role="table" aria-label=${label}
    aria-rowcount=${rows.length + 1} aria-colcount=${columns.length}>
    <${Head} columns=${columns} sort=${sort} onSort=${onSort} index=${1} />
    <tbody role="rowgroup" ref=${body} onFocusCapture=${onFocus} onBlurCapture=${onBlur}>
      ${spaced(
        shown,
        rows.length,
        height,
        columns.length,
        (i) => html`<${Row} key=${keyOf(rows[i])}
        id=${keyOf(rows[i])} columns=${columns} row=${rows[i]} index=${i + 2} />`,
      )}
    </tbody>
  </table>`;
}

// The key of the row with the focus. A row that is moved while rows are drawn loses the focus in
// between; it gets it back before anybody sees that.
function useFocusedRow(body) {
  const [focused, setFocused] = useState(null);
  const element = useRef(null);
  const drawing = useRef(false);
  drawing.current = true;
  useLayoutEffect(() => {
    drawing.current = false;
    const lost = element.current?.isConnected && document.activeElement === document.body;
    if (lost) element.current.focus({ preventScroll: true });
  });
  const onFocus = ({ target }) => {
    element.current = target;
    setFocused(target.closest("tr")?.dataset.key ?? null);
  };
  const onBlur = ({ relatedTarget }) => {
    if (drawing.current || body.current?.contains(relatedTarget)) return;
    element.current = null;
    setFocused(null);
  };
  return { focused, onFocus, onBlur };
}

// A table that draws all rows; on a phone each row is a card.
export function SimpleTable({ columns, rows, keyOf, sort, onSort, label, className = "" }) {
  return html`<table class=${`table ${className}`} role="table" aria-label=${label}>
    <${Head} columns=${columns} sort=${sort} onSort=${onSort} />
    <tbody role="rowgroup">
      ${rows.map((row, i) => html`<${Row} key=${keyOf ? keyOf(row) : i} columns=${columns}
        row=${row} />`)}
    </tbody>
  </table>`;
}

function Head({ columns, sort, onSort, index }) {
  return html`<thead role="rowgroup"><tr role="row" aria-rowindex=${index}>
    ${columns.map((column) => html`<${HeadCell} key=${column.key} column=${column} sort=${sort}
      onSort=${onSort} />`)}
  </tr></thead>`;
}

function HeadCell({ column, sort, onSort }) {
  const { key, label, says, align, sortable = true } = column;
  const mine = sort?.key === key;
  const order = mine ? (sort.desc ? "descending" : "ascending") : undefined;
  return html`<th role="columnheader" scope="col" data-align=${align} data-col=${key}
    aria-sort=${order} title=${says}>
    ${
      onSort && sortable
        ? html`<button type="button" class="sort" onClick=${() => onSort(key)}>
          <span>${label}</span><span class="arrow" aria-hidden="true">
            ${mine ? (sort.desc ? "↓" : "↑") : ""}</span>
        </button>`
        : label
    }
  </th>`;
}

function Row({ columns, row, index, id }) {
  return html`<tr role="row" aria-rowindex=${index} data-key=${id}>
    ${columns.map(
      ({ key, label, align, className, cell, value }) => html`<td role="cell" key=${key}
      data-col=${key} data-label=${label} data-align=${align} class=${className}>
        ${cell ? cell(row) : value(row)}</td>`,
    )}
  </tr>`;
}

// The rows that are seen, and those around the one that has the focus, wherever that is: the next
// step by keyboard must find a row.
function drawnRows(from, to, kept, count) {
  const shown = new Set();
  for (let i = from; i < to; i += 1) shown.add(i);
  if (kept >= 0) {
    for (let i = Math.max(0, kept - MORE); i < Math.min(count, kept + MORE); i += 1) shown.add(i);
  }
  return [...shown].sort((a, b) => a - b);
}

// Rows with room in place of those that are left out.
function spaced(shown, count, height, columns, draw) {
  const drawn = [];
  let next = 0;
  const gap = (until) => {
    if (until > next) {
      drawn.push(html`<tr key=${`gap ${next === 0 ? "first" : until === count ? "last" : "mid"}`}
        class="gap" aria-hidden="true" style=${{ height: `${(until - next) * height}px` }}>
        <td colspan=${columns}></td></tr>`);
    }
  };
  for (const i of shown) {
    gap(i);
    drawn.push(draw(i));
    next = i + 1;
  }
  gap(count);
  return drawn;
}

// Which rows are seen: measured from the first drawn row, whose height the stylesheet decides.
function useWindow(body, count) {
  const [seen, setSeen] = useState({ from: 0, to: Math.min(count, FIRST), height: 40 });
  const look = () => {
    if (!body.current) return;
    const row = body.current.querySelector("tr:not(.gap)");
    const height = row?.getBoundingClientRect().height || seen.height;
    const top = body.current.getBoundingClientRect().top;
    const from = clamp(Math.floor(-top / height) - MORE, 0, count);
    const to = clamp(Math.ceil((window.innerHeight - top) / height) + MORE, from, count);
    setSeen((was) =>
      was.from === from && was.to === to && was.height === height ? was : { from, to, height },
    );
  };
  useLayoutEffect(look, [count]);
  useEffect(() => {
    let asked = 0;
    const soon = () => {
      cancelAnimationFrame(asked);
      asked = requestAnimationFrame(look);
    };
    window.addEventListener("scroll", soon, { passive: true });
    window.addEventListener("resize", soon);
    const watch = new ResizeObserver(soon);
    watch.observe(document.body);
    return () => {
      cancelAnimationFrame(asked);
      window.removeEventListener("scroll", soon);
      window.removeEventListener("resize", soon);
      watch.disconnect();
    };
  }, [count]);
  return { ...seen, from: Math.min(seen.from, count), to: Math.min(seen.to, count) };
}

const clamp = (value, least, most) => Math.min(Math.max(value, least), most);

// Rows in the order of a column; what is not known comes last, either way round.
export function sorted(rows, columns, sort) {
  const column = columns.find(({ key }) => key === sort?.key);
  if (!column) return rows;
  const sign = sort.desc ? -1 : 1;
  const keyed = rows.map((row) => [column.value(row), row]);
  keyed.sort(([a], [b]) => (a == null) - (b == null) || sign * compared(a, b));
  return keyed.map(([, row]) => row);
}

const collator = new Intl.Collator("en", { numeric: true });
const compared = (a, b) => {
  if (a == null) return 0;
  return typeof a === "number" && typeof b === "number"
    ? a - b
    : collator.compare(String(a), String(b));
};
