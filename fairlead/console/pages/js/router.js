// Where the page stands: `#/path?query`. Every name in it is percent-encoded, so none can be code.
import { createStore } from "./store.js";
import { ROUTES } from "./routes.js";

const enc = encodeURIComponent;

// The place of a hash: its route, the names in its path and its query; null: there is no such page.
export function placeOf(hash) {
  const [path, search = ""] = hash.replace(/^#?\/?/, "").split(/\?(.*)/s);
  const query = Object.fromEntries(new URLSearchParams(search));
  const parts = path === "" ? ["groups"] : path.split("/");
  for (const route of ROUTES) {
    const params = matched(route.parts, parts);
    if (params) return { name: route.name, load: route.load, params, query, path: parts.join("/") };
  }
  return { name: "nowhere", load: null, params: {}, query, path };
}

function matched(pattern, parts) {
  if (pattern.length !== parts.length) return null;
  const params = {};
  for (const [i, part] of pattern.entries()) {
    if (!part.startsWith(":")) {
      if (part !== parts[i]) return null;
      continue;
    }
    try {
      params[part.slice(1)] = decodeURIComponent(parts[i]);
    } catch {
      return null;
    }
  }
  return params;
}

export function hashOf(path, query = {}) {
  const kept = Object.entries(query).filter(([, value]) => value != null && value !== "");
  const search = new URLSearchParams(kept.map(([key, value]) => [key, String(value)])).toString();
  return `#/${path}${search ? `?${search}` : ""}`;
}

export const href = {
  groups: (query) => hashOf("groups", query),
  group: (group, query) => hashOf(`groups/${enc(group)}`, query),
  decision: (group, offset) => hashOf(`groups/${enc(group)}/decisions/${enc(offset)}`),
  queue: (group, queue, query) =>
    hashOf(`groups/${enc(group)}/queues/${queue.map(enc).join("/")}`, query),
  whatIf: (group, query) => hashOf(`groups/${enc(group)}/what-if`, query),
  native: () => hashOf("native"),
  nativeGroup: (native, group) => hashOf(`native/${enc(native)}/${enc(group)}`),
  safety: () => hashOf("safety"),
  login: () => hashOf("login"),
};

export function createRouter() {
  const place = createStore(placeOf(location.hash));
  const scrolls = createScrolls();
  window.addEventListener("hashchange", () => {
    scrolls.arrive();
    place.set(placeOf(location.hash));
  });
  const go = (hash, { replace = false } = {}) => {
    if (replace) {
      history.replaceState(history.state, "", hash);
      place.set(placeOf(location.hash));
    } else {
      location.hash = hash;
    }
  };
  const setQuery = (change, options) => {
    const { path, query } = place.get();
    go(hashOf(path, { ...query, ...change }), options);
  };
  return { place, go, setQuery, scrollBack: scrolls.back };
}

const KEPT = 50;

// How far each entry of the history was scrolled: whoever goes back stands where they were.
function createScrolls() {
  history.scrollRestoration = "manual";
  const heights = new Map();
  let entries = 0;
  const arrive = () => {
    if (history.state?.entry === undefined) {
      history.replaceState({ ...history.state, entry: `${Date.now()} ${(entries += 1)}` }, "");
    }
  };
  arrive();
  window.addEventListener(
    "scroll",
    () => {
      const { entry } = history.state ?? {};
      heights.delete(entry);
      heights.set(entry, window.scrollY);
      if (heights.size > KEPT) heights.delete(heights.keys().next().value);
    },
    { passive: true },
  );
  return { arrive, back: () => heights.get(history.state?.entry) ?? 0 };
}
