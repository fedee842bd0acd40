// The header: where one is, how fresh what one sees is, and the few settings of the page.
import { html, useEffect, useRef, useState } from "./html.js";
import { useApp } from "./app.js";
import { useNow } from "./clock.js";
import * as format from "./format.js";
import { Icon } from "./parts/icon.js";
import { Inert } from "./parts/name.js";
import { INTERVALS_MS, LANGUAGES, THEMES } from "./settings.js";
import { useStore } from "./store.js";
import { KNOWN } from "./words.js";

const ELSEWHERE = ["safety", "login", "native", "native-group"];

export function Header({ place }) {
  const app = useApp();
  return html`<header class="top">
    <a class="brand" href=${app.href.groups()} aria-label=${app.t("shell.home")}>
      <${Icon} name="mark" /><span>Fairlead</span>
    </a>
    <${Cluster} />
    <nav aria-label=${app.t("shell.pages")}>
      <${Tab} to=${app.href.groups()} here=${!ELSEWHERE.includes(place.name)}
        exact=${place.name === "groups"}>${app.t("groups.title")}<//>
      <${Tab} to=${app.href.native()} here=${place.name.startsWith("native")}
        exact=${place.name === "native"}>${app.t("native.title")}<//>
      <${Tab} to=${app.href.safety()} here=${place.name === "safety"} exact>
        ${app.t("safety.title")}<//>
    </nav>
    <div class="top-end">
      <${Connection} />
      <${Pause} />
      <${Options} />
    </div>
  </header>`;
}

function Tab({ to, here, exact, children }) {
  const current = here ? (exact ? "page" : "true") : undefined;
  return html`<a class="tab" href=${to} aria-current=${current}>${children}</a>`;
}

function Cluster() {
  const app = useApp();
  const known = useStore(app.cluster);
  if (!known?.bootstrap) return html`<span class="cluster"></span>`;
  return html`<span class="cluster" title=${app.t("shell.cluster_title")}>
    <bdi>${known.bootstrap}</bdi>
    ${known.topic_prefix && html`<span class="muted"> · <bdi>${known.topic_prefix}*</bdi></span>`}
  </span>`;
}

// The state of the connection: that of the stream, unless the server itself is behind the topics.
function useConnection() {
  const app = useApp();
  const { kind, since_ms: since, detail } = useStore(app.live.connection);
  const known = useStore(app.cluster);
  const behind = kind === "live" && known?.ready === false;
  return { app, known, behind, state: behind ? "behind" : kind, at: format.clock(since), detail };
}

// The state in one word, and what it means. Only a change of it is announced.
function Connection() {
  const { app, known, behind, state, at, detail } = useConnection();
  const isUnread = behind && !known.records_behind;
  const says = app.t(`connection.${isUnread ? "not_ready" : state}`, { at, n: format.number(known?.records_behind) });
  const title = [app.t(`connection.${state}_says`, { at }), behind ? known.reason : detail];
  return html`<span class="connection" role="status" data-kind=${state}
    title=${title.filter(Boolean).join(" ")}>
    <${Icon} name=${`state-${state}`} /><span>${says}</span>
  </span>`;
}

// What is shown may be old: that must be seen by whoever looks at the page, not at its header.
export function Stale() {
  const { app, known, behind, state, at, detail } = useConnection();
  if (!["reconnecting", "waiting", "behind"].includes(state)) return null;
  return html`<section class="stale" data-kind=${state} aria-label=${app.t("connection.title")}>
    <p>${app.t(`connection.${state}_says`, { at })}${" "}
      <${Inert}>${behind ? known.reason : detail}<//></p>
  </section>`;
}

function Pause() {
  const app = useApp();
  const { paused } = useStore(app.settings);
  const label = app.t(paused ? "shell.resume" : "shell.pause");
  return html`<button type="button" class="btn" data-kind="quiet" aria-pressed=${paused}
    title=${label} aria-label=${app.t("shell.pause")}
    onClick=${() => app.settings.set({ paused: !paused })}>
    <${Icon} name=${paused ? "play" : "pause"} />
  </button>`;
}

// The settings open below their button and close by Escape, by a click elsewhere, or when left.
function Options() {
  const app = useApp();
  const [open, setOpen] = useState(false);
  const box = useRef(null);
  const button = useRef(null);
  useEffect(() => {
    if (!open) return undefined;
    const outside = (event) => {
      if (!box.current.contains(event.target)) setOpen(false);
    };
    document.addEventListener("pointerdown", outside);
    document.addEventListener("focusin", outside);
    return () => {
      document.removeEventListener("pointerdown", outside);
      document.removeEventListener("focusin", outside);
    };
  }, [open]);
  const onKeyDown = (event) => {
    if (event.key !== "Escape" || !open) return;
    setOpen(false);
    button.current.focus();
  };
  return html`<div class="options" ref=${box} onKeyDown=${onKeyDown}>
    <button type="button" class="btn" data-kind="quiet" ref=${button} aria-expanded=${open}
      aria-controls="options" aria-label=${app.t("shell.options")} title=${app.t("shell.options")}
      onClick=${() => setOpen(!open)}><${Icon} name="options" /></button>
    <div id="options" class="popover" hidden=${!open}>${open && html`<${Choices} />`}</div>
  </div>`;
}

function Choices() {
  const app = useApp();
  const { t, settings } = app;
  const chosen = useStore(settings);
  const automatic = t("shell.auto");
  return html`
    <${Choice} label=${t("shell.interval")} value=${chosen.interval_ms}
      options=${INTERVALS_MS.map((ms) => [ms, format.span(ms === 250 ? 250 : ms)])}
      onChoose=${(value) => settings.set({ interval_ms: Number(value) })} />
    <${Choice} label=${t("shell.theme")} value=${chosen.theme}
      options=${THEMES.map((theme) => [theme, t(`shell.theme_${theme}`)])}
      onChoose=${(theme) => settings.set({ theme })} />
    <${Choice} label=${t("shell.language")} value=${chosen.language}
      options=${LANGUAGES.map((each) => [each, KNOWN[each] ?? automatic])}
      onChoose=${(language) => settings.set({ language })} />
    <${Account} />
  `;
}

function Choice({ label, value, options, onChoose }) {
  return html`<label class="field"><span>${label}</span>
    <select value=${value} onChange=${(event) => onChoose(event.target.value)}>
      ${options.map(([key, says]) => html`<option value=${key} selected=${key === value}>
        ${says}</option>`)}
    </select>
  </label>`;
}

function Account() {
  const app = useApp();
  const me = useStore(app.me);
  if (!me) return html`<a class="btn" href=${app.href.login()}>${app.t("login.title")}</a>`;
  const leave = async () => {
    try {
      await app.api.post("api/v1/logout", {});
    } catch (problem) {
      return app.say(`${problem.detail} ${problem.remedy}`);
    }
    app.forget();
    app.go(app.href.login());
    return app.say(app.t("login.left"));
  };
  return html`<div class="account">
    ${
      me.via === "nobody"
        ? html`<p class="muted">${app.t("login.open")}</p>`
        : html`<p>${app.t("login.as")} <bdi>${me.principal}</bdi></p>`
    }
    ${me.via === "cookie" && html`<button type="button" class="btn" onClick=${leave}>
      ${app.t("login.leave")}</button>`}
    <p class="muted">fairlead <span class="mono">${me.version}</span></p>
  </div>`;
}
