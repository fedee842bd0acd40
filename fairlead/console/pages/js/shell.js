// What stands around every page: the header with the state of the connection, and the page itself.
import { html, useEffect, useErrorBoundary, useLayoutEffect, useRef, useState } from "./html.js";
import { useApp } from "./app.js";
import { Header, Stale } from "./header.js";
import { Page } from "./parts/page.js";
import { Loading, ProblemBox } from "./parts/problem.js";
import { useStore } from "./store.js";

const TOAST_MS = 4_000;
const ARRIVED_MS = 3_000; // after this a reader has begun to move by themselves

export function Shell() {
  const app = useApp();
  const place = useStore(app.place);
  const main = useRef(null);
  useFocusOnNavigation(app, place, main);
  const skip = (event) => {
    event.preventDefault();
    main.current.querySelector("h1")?.focus();
  };
  return html`
    <a class="skip" href="#main" onClick=${skip}>${app.t("shell.skip")}</a>
    <${Header} place=${place} />
    <${Stale} />
    <main id="main" ref=${main} data-view=${place.name}>
      <${View} key=${`${place.name} ${place.path}`} place=${place} />
    </main>
    <${Toast} />
  `;
}

// A page's code is loaded on first use; the page that was shown before never shows through.
function View({ place }) {
  const app = useApp();
  const [module, setModule] = useState(null);
  const [failed, setFailed] = useState(null);
  const [broken] = useErrorBoundary((error) => console.error(error));
  useEffect(() => {
    let gone = false;
    place.load?.().then(
      (loaded) => {
        if (!gone) setModule(loaded);
      },
      () => {
        if (!gone) setFailed({ detail: app.t("shell.not_loaded"), remedy: app.t("shell.reload") });
      },
    );
    return () => {
      gone = true;
    };
  }, []);
  useEffect(() => {
    const title = module?.title?.({ params: place.params, query: place.query, t: app.t });
    document.title = title ? `${title} · Fairlead` : "Fairlead";
  });
  if (!place.load) return html`<${Nowhere} />`;
  const error = failed ?? (broken && { detail: String(broken), remedy: app.t("shell.reload") });
  if (error)
    return html`<${Page} title=${app.t("shell.trouble")}><${ProblemBox} problem=${error} /><//>`;
  if (!module) return html`<${Loading} />`;
  return html`<${module.default} app=${app} params=${place.params} query=${place.query} />`;
}

function Nowhere() {
  const { t, href } = useApp();
  return html`<${Page} title=${t("shell.nowhere")}>
    <p>${t("shell.nowhere_says")} <a href=${href.groups()}>${t("groups.title")}</a></p>
  <//>`;
}

// The reader of a new page stands on its heading, and on the way back at the height that was left;
// not when only the query of a page changed.
function useFocusOnNavigation(app, { name, path }, main) {
  const first = useRef(true);
  useLayoutEffect(() => {
    if (first.current) {
      first.current = false;
      return undefined;
    }
    const height = app.scrollBack();
    const arrive = () => {
      const heading = main.current.querySelector("h1");
      if (heading && !main.current.contains(document.activeElement)) {
        heading.focus({ preventScroll: true });
      }
      window.scrollTo(0, height);
      return heading !== null && Math.abs(window.scrollY - height) < 2;
    };
    if (arrive()) return undefined;
    const watch = new MutationObserver(() => {
      if (arrive()) watch.disconnect();
    });
    watch.observe(main.current, { childList: true, subtree: true });
    const timer = setTimeout(() => watch.disconnect(), ARRIVED_MS);
    return () => {
      clearTimeout(timer);
      watch.disconnect();
    };
  }, [`${name} ${path}`]);
}

function Toast() {
  const app = useApp();
  const { text, at } = useStore(app.said);
  const [shown, setShown] = useState(false);
  useEffect(() => {
    if (!at) return undefined;
    setShown(true);
    const timer = setTimeout(() => setShown(false), TOAST_MS);
    return () => clearTimeout(timer);
  }, [at]);
  return html`<div class="toast" role="status" data-shown=${shown}>${shown ? text : ""}</div>`;
}
