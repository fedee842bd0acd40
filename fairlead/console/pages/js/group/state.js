// One group as a page shows it: as it is, kept up by the stream, or as it was at a moment.

import { useCallback, useEffect, useMemo, useReducer, useRef, useState } from "../html.js";
import { useLive } from "../live.js";
import { byQueue, queueKey, RibbonModel } from "../ribbon/model.js";

const HOUR = 3_600_000;
const KEPT = 24 * HOUR;
const SETTLED_MS = 200;

const path = (group) => `api/v1/groups/${encodeURIComponent(group)}`;

/** Put changed things in the place of those of the same key, and take away those that are gone. */
export function patched(list, changed, gone, keyOf, order) {
  if (changed.length === 0 && gone.length === 0) return list;
  const byKey = new Map(list.map((each) => [keyOf(each), each]));
  for (const key of gone) byKey.delete(key);
  for (const each of changed) byKey.set(keyOf(each), each);
  return [...byKey.values()].sort(order);
}

const memberKey = (member) => `${member.client_id}\n${member.incarnation}`;
const goneMember = (gone) => (Array.isArray(gone) ? gone.join("\n") : memberKey(gone));
const byClient = (a, b) => (a.client_id < b.client_id ? -1 : a.client_id > b.client_id ? 1 : 0);

/** Return a group as it is after a change of the stream. */
export function changed(group, change) {
  const { queues = [], queues_gone = [], members = [], members_gone = [] } = change;
  return {
    ...group,
    ...change.head,
    topic_list: change.topics ?? group.topic_list,
    queue_list: patched(group.queue_list, queues, queues_gone.map(queueKey),
      ({ queue }) => queueKey(queue), (a, b) => byQueue(a.queue, b.queue)),
    member_list: patched(group.member_list, members, members_gone.map(goneMember), memberKey, byClient),
  };
}

/**
 * The hook of the page Group.
 *
 * `at` is a moment or null (now). Returns {group, model, version, problem, gone, lookBack}: `version`
 * changes with everything else; `lookBack(from)` asks for a ribbon that begins earlier.
 */
export function useGroup(app, name, at, from) {
  const model = useMemo(() => new RibbonModel(), [name]);
  const [told, setTold] = useState({ group: null, problem: null, gone: false });
  const [, grow] = useReducer((n) => n + 1, 0);
  // Without a look farther back the server chooses: this computer's clock may be wrong.
  const start = useMemo(() => {
    const now = app.clock.now();
    const far = from !== null && from < now - HOUR;
    return far ? `?from_ms=${Math.floor(Math.max(now - KEPT, from))}` : "";
  }, [name]);
  const problem = useCallback((found) => setTold((was) => ({ ...was, problem: found })), []);
  useLive(app.live, at === null ? `${path(name)}/live${start}` : null, {
    snapshot({ group, ribbon, ...told }) {
      app.learn({ now_ms: ribbon.now_ms, ...told });
      model.take(ribbon);
      setTold({ group, problem: null, gone: false });
      grow();
    },
    change(change) {
      app.learn(change);
      model.change({ ...change, now_ms: change.now_ms ?? change.head?.as_of_ms ?? 0 });
      if (model.from_ms < app.clock.now() - 2 * KEPT) model.prune(app.clock.now() - KEPT);
      setTold((was) => (was.group === null ? was : { ...was, gone: false, group: changed(was.group, change) }));
      grow();
    },
    gone: () => setTold((was) => ({ ...was, gone: true })),
    problem,
  });
  useMoment(app, name, at, setTold);
  const lookBack = useLookBack(app, name, { model, at, grow, problem });
  return { ...told, model, version: model.version, lookBack };
}

// The group as it was: asked for anew when the moment changes, and not while it still moves.
function useMoment(app, name, at, setTold) {
  useEffect(() => {
    if (at === null) return undefined;
    const stop = new AbortController();
    const timer = setTimeout(() => {
      app.api
        .get(`${path(name)}?at_ms=${Math.round(at)}`, { signal: stop.signal })
        .then((group) => setTold({ group, problem: null, gone: false }))
        .catch((error) => stop.signal.aborted || setTold({ group: null, problem: error, gone: false }));
    }, SETTLED_MS / 2);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [app, name, at]);
}

// Earlier parts of the ribbon: asked for once, in front of what is known.
function useLookBack(app, name, { model, at, grow, problem }) {
  const asked = useRef({ timer: null, stop: null });
  useEffect(
    () => () => {
      clearTimeout(asked.current.timer);
      asked.current.stop?.abort();
    },
    [name],
  );
  return useCallback(
    ({ from, to }) => {
      clearTimeout(asked.current.timer);
      const known = model.from_ms;
      const least = Math.max(from, model.kept_since_ms ?? 0);
      if (known === Infinity ? at === null : least >= known) return;
      asked.current.timer = setTimeout(async () => {
        asked.current.stop?.abort();
        const stop = new AbortController();
        asked.current.stop = stop;
        const begin = Math.floor(from - (to - from) / 2);
        const end = known === Infinity ? Math.ceil(app.clock.now()) : known;
        try {
          const url = `${path(name)}/ribbon?from_ms=${Math.max(0, begin)}&to_ms=${Math.ceil(end)}`;
          const ribbon = await app.api.get(url, { signal: stop.signal });
          if (stop.signal.aborted) return;
          if (known === Infinity) model.take(ribbon);
          else if (model.from_ms === known) model.extend(ribbon);
          grow();
        } catch (error) {
          if (!stop.signal.aborted) problem(error);
        }
      }, SETTLED_MS);
    },
    [app, name, model, at],
  );
}
