// The one stream of a tab. A browser opens six connections to a server, for all its tabs together,
// so a tab that nobody sees gives its own back.
import { useEffect, useRef } from "./html.js";
import { createStore } from "./store.js";
import { Problem, problemOf } from "./api.js";

const HIDDEN_MS = 5_000;
const RETRY_MS = [1_000, 2_000, 4_000, 8_000, 15_000];
const FINAL = new Set([400, 403, 404, 410, 422]);
const TRYING = new Set(["reconnecting", "waiting"]);
const ASLEEP_MS = 45_000;

// `connection` tells {kind, since_ms, detail}: idle, connecting, live, reconnecting, waiting (the
// server answers that it cannot yet), paused, hidden or refused. `onUnknown` is called when the
// server does not know who asks (401).
export function createLive({ api, settings, onUnknown }) {
  const connection = createStore({ kind: "idle", since_ms: Date.now(), detail: "" });
  let followed = null; // { path, handlers, everyMs }
  let source = null;
  let timer = null;
  let retries = 0;
  let pausedMs = Date.now();

  const tell = (kind, detail = "") => {
    const { kind: before, since_ms: since } = connection.get();
    const from = kind === "paused" ? pausedMs : before === kind ? since : Date.now();
    connection.set({ kind, since_ms: from, detail });
  };
  const close = () => {
    clearTimeout(timer);
    timer = null;
    source?.close();
    source = null;
  };
  const urlOf = (path) =>
    `${path}${path.includes("?") ? "&" : "?"}interval_ms=${settings.get().interval_ms}`;

  function open() {
    close();
    if (!followed) return tell("idle");
    // A page that is opened meanwhile is told once how things stand.
    if (settings.get().paused && followed.isTold) return tell("paused");
    if (document.hidden) return tell("hidden");
    if (!TRYING.has(connection.get().kind)) tell("connecting");
    return followed.everyMs ? ask(followed) : listen(followed);
  }

  function listen(mine) {
    const stream = new EventSource(urlOf(mine.path));
    source = stream;
    const on = (name) =>
      stream.addEventListener(name, ({ data }) => {
        if (source !== stream) return;
        heard();
        mine.handlers[name]?.(data ? JSON.parse(data) : {});
        told(mine);
      });
    stream.onopen = () => {
      if (source === stream) heard();
    };
    stream.onerror = () => {
      if (source === stream) lost(stream, mine);
    };
    ["snapshot", "change", "gone"].forEach(on);
  }

  // A page without a stream asks again and again; what it hears is a snapshot each time.
  async function ask(mine) {
    const asked = new AbortController();
    source = { close: () => asked.abort() };
    const again = (ms) => {
      source = null;
      timer = setTimeout(open, ms);
    };
    try {
      const data = await api.get(mine.path, { signal: asked.signal });
      if (asked.signal.aborted) return;
      heard();
      mine.handlers.snapshot?.(data);
      if (told(mine)) return;
      again(Math.max(mine.everyMs, settings.get().interval_ms));
    } catch (problem) {
      if (!asked.signal.aborted) failed(mine, problem, again);
    }
  }

  // Return whether that was all: updates are paused.
  function told(mine) {
    mine.isTold = true;
    if (!settings.get().paused) return false;
    close();
    tell("paused");
    return true;
  }

  function heard() {
    retries = 0;
    if (connection.get().kind !== "live") tell("live");
  }

  // A broken connection is opened again by the browser itself, from the last event that it heard.
  // A refused one is closed for good; why, only another request can learn.
  async function lost(stream, mine) {
    if (connection.get().kind !== "waiting") tell("reconnecting");
    if (stream.readyState !== EventSource.CLOSED) return;
    close();
    const problem = await refusal(urlOf(mine.path));
    if (followed !== mine || source) return;
    failed(mine, problem, (ms) => {
      timer = setTimeout(open, ms);
    });
  }

  function failed(mine, problem, again) {
    if (problem?.status === 401) {
      onUnknown(problem);
    } else if (problem && FINAL.has(problem.status)) {
      tell("refused", problem.detail);
      mine.handlers.problem?.(problem);
    } else {
      const { detail = "", remedy = "" } = problem ?? {};
      if (problem?.status) tell("waiting", `${detail} ${remedy}`.trim());
      else tell("reconnecting");
      again(RETRY_MS[Math.min(retries++, RETRY_MS.length - 1)]);
    }
  }

  function follow(path, handlers, everyMs = 0) {
    const mine = { path, handlers, everyMs };
    followed = mine;
    retries = 0;
    tell("connecting");
    open();
    return () => {
      if (followed !== mine) return;
      followed = null;
      open();
    };
  }

  let was = settings.get();
  settings.subscribe((now) => {
    const changed = now.paused !== was.paused || now.interval_ms !== was.interval_ms;
    if (now.paused && !was.paused) pausedMs = Date.now();
    was = now;
    if (changed) open();
  });
  watchTheTab(
    {
      open,
      close: () => {
        close();
        if (followed) tell("hidden");
      },
    },
    connection,
    settings,
  );
  return { connection, follow, reopen: open };
}

// The answer that a stream was refused with; null: it would be opened now.
async function refusal(url) {
  const stop = new AbortController();
  try {
    const response = await fetch(url, {
      headers: { accept: "text/event-stream" },
      cache: "no-store",
      signal: stop.signal,
    });
    return response.ok ? null : await problemOf(response);
  } catch {
    return new Problem({ type: "urn:fairlead:unreachable" });
  } finally {
    stop.abort();
  }
}

function watchTheTab({ open, close }, connection, settings) {
  let hiding = null;
  document.addEventListener("visibilitychange", () => {
    clearTimeout(hiding);
    if (document.hidden) hiding = setTimeout(close, HIDDEN_MS);
    else if (connection.get().kind === "hidden") open();
  });
  window.addEventListener("pagehide", close);
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) open();
  });
  window.addEventListener("online", () => {
    if (TRYING.has(connection.get().kind)) open();
  });
  // A computer that slept finds its streams silent for ever: it opens them anew.
  let beat = Date.now();
  setInterval(() => {
    const slept = Date.now() - beat > ASLEEP_MS;
    beat = Date.now();
    if (slept && !document.hidden && !settings.get().paused) open();
  }, 10_000);
}

// The hook: follows `path` while mounted, and anew when the path changes; null follows nothing.
// With `everyMs` the path is no stream: it is asked for again and again.
export function useLive(live, path, handlers, everyMs = 0) {
  const kept = useRef(handlers);
  kept.current = handlers;
  useEffect(() => {
    if (path === null) return undefined;
    const call = (name) => (data) => kept.current[name]?.(data);
    const all = ["snapshot", "change", "gone", "problem"].map((name) => [
      name,
      call(name),
    ]);
    return live.follow(path, Object.fromEntries(all), everyMs);
  }, [live, path]);
}
