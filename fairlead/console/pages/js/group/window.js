// The window of time and the moment that the address names: `from`, `to` and `at`.

import { useCallback, useEffect, useRef, useState } from "../html.js";

const WIDTH = 15 * 60_000;
const SETTLED_MS = 250;

const time = (text) => (text !== undefined && /^-?\d{1,15}$/.test(text) ? Number(text) : null);

/** Return the moment of the time travel that a query names, or null. */
export function momentOf(query) {
  const at = time(query.at);
  return at !== null && at > 0 ? at : null;
}

/**
 * Return the window {from, to, follows} that a query names.
 *
 * `from` and `to` are moments; a negative `from` alone is how far to look back from now on.
 */
export function windowOf(query, now) {
  const [from, to, at] = [time(query.from), time(query.to), momentOf(query)];
  if (from !== null && to !== null && from > 0 && to > from) return { from, to, follows: false };
  const width = from !== null && from < 0 ? -from : WIDTH;
  if (at === null) return { from: now - width, to: now, follows: true };
  const end = Math.min(now + width * 0.02, at + width / 2);
  return { from: end - width, to: end, follows: false };
}

/** Return what a query says of a window. */
export function queryOf({ from, to, follows }) {
  if (!follows) return { from: Math.round(from), to: Math.round(to) };
  const width = Math.round(to - from);
  return { from: Math.abs(width - WIDTH) < 1000 ? null : -width, to: null };
}

/** Return a window that shows a moment, as wide as another; null: the present, which it follows. */
export function windowAt(view, at, now) {
  const width = view.to - view.from;
  if (at === null) return { from: now - width, to: now, follows: true };
  if (at > view.from && at < view.to) return { ...view, follows: false };
  const from = Math.min(at - width / 2, now - width);
  return { from, to: from + width, follows: false };
}

/**
 * The hook: [window, move, travel].
 *
 * `move` takes another window, and the address follows as soon as it stands still. `travel` goes to
 * a moment, or back to the present, with a window that shows it.
 */
export function useWindow(app, query) {
  const [view, setView] = useState(() => windowOf(query, app.clock.now()));
  const latest = useRef(view);
  latest.current = view;
  const written = useRef([query.from, query.to].join());
  const timer = useRef(null);
  useEffect(() => {
    const named = [query.from, query.to].join();
    if (named === written.current) return;
    written.current = named;
    setView(windowOf(query, app.clock.now()));
  }, [query.from, query.to]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const write = (next, more, options) => {
    const said = queryOf(next);
    written.current = [said.from ?? undefined, said.to ?? undefined].join();
    app.setQuery({ ...said, ...more }, options);
  };
  const move = useCallback((next) => {
    setView({ ...next });
    clearTimeout(timer.current);
    timer.current = setTimeout(() => write(next, {}, { replace: true }), SETTLED_MS);
  }, []);
  const travel = useCallback((at) => {
    clearTimeout(timer.current);
    const next = windowAt(latest.current, at, app.clock.now());
    setView(next);
    write(next, { at: at === null ? null : Math.round(at) });
  }, []);
  return [view, move, travel];
}
