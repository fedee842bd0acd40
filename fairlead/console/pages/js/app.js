// What every page is given: words, requests, the stream, the clock, the way to other pages.
import { createContext, useContext } from "./html.js";
import { createApi } from "./api.js";
import { createClock } from "./clock.js";
import { setLanguage } from "./format.js";
import { createLive } from "./live.js";
import { createRouter, href } from "./router.js";
import { createSettings } from "./settings.js";
import { createStore, useStore } from "./store.js";
import { createWords, languageOf } from "./words.js";

const Context = createContext(null);
export const AppProvider = Context.Provider;

// The hook: the app; whoever calls it is drawn anew in another language.
export function useApp() {
  const app = useContext(Context);
  useStore(app.words);
  return app;
}

export function createApp() {
  const settings = createSettings();
  const me = createStore(null);
  const cluster = createStore(null); // {bootstrap, topic_prefix, ready, reason, records_behind}
  const said = createStore({ text: "", at: 0 });
  const words = createWords();
  const router = createRouter();
  const clock = createClock();
  const memory = new Map(); // what pages show at once when one comes back; of one principal
  const forget = () => {
    me.set(null);
    memory.clear();
  };
  const toLogin = () => {
    forget();
    if (router.place.get().name === "login") return;
    const from = location.hash;
    router.go(href.login(), { replace: true });
    app.afterLogin = from;
  };
  const api = createApi({ csrf: () => me.get()?.csrf, onUnknown: toLogin });
  const live = createLive({ api, settings, onUnknown: toLogin });
  const app = {
    api,
    live,
    clock,
    settings,
    me,
    memory,
    forget,
    cluster,
    said,
    words,
    href,
    place: router.place,
    go: router.go,
    setQuery: router.setQuery,
    scrollBack: router.scrollBack,
    afterLogin: "",
    t: words.t,
    say: (text) => said.set({ text, at: Date.now() }),
    // The names of the cluster and how far serve has read, from any document that tells them.
    learn(document) {
      if (document.now_ms) clock.set(document.now_ms);
      const known = cluster.get() ?? {};
      const next = { ...known };
      for (const key of ["bootstrap", "topic_prefix", "ready", "reason", "records_behind"]) {
        if (document[key] !== undefined) next[key] = document[key];
      }
      if (Object.keys(next).some((key) => next[key] !== known[key])) cluster.set(next);
    },
    async speak(language) {
      const next = languageOf(language);
      setLanguage(next);
      await words.load(next);
    },
    async meet() {
      const known = await api.get("api/v1/me");
      me.set(known);
      app.learn({ bootstrap: known.bootstrap, topic_prefix: known.topic_prefix });
      return known;
    },
  };
  settings.subscribe(({ paused }) => clock.freeze(paused));
  return app;
}
