// What the engine decided, the newest first: each line leads to why.

import { html, useState } from "../html.js";
import { useApp } from "../app.js";
import { Inert } from "../parts/name.js";
import { Empty } from "../parts/page.js";
import { Instant } from "../parts/time.js";

const SHOWN = 12;
const MORE = 40;

/** `marks` are those of the ribbon, oldest first. */
export function Feed({ name, marks }) {
  const { t, href } = useApp();
  const [count, setCount] = useState(SHOWN);
  const [all, setAll] = useState(false);
  const told = (all ? marks : marks.filter((mark) => mark.queues_moved > 0)).toReversed();
  return html`<div class="stack">
    <label class="check"><input type="checkbox" checked=${all} onChange=${() => setAll(!all)} />
      ${t("feed.all", { n: marks.length })}</label>
    ${told.length === 0 && html`<${Empty}>${t("feed.none")}<//>`}
    <div role="log" aria-label=${t("feed.title")}><ol class="told-decisions">
      ${told.slice(0, count).map((mark) => html`<li key=${mark.at.join("/")}>
        <a href=${href.decision(name, mark.at[2])}><${Instant} ms=${mark.append_ms} short /></a>
        <span class="grow"><${Inert}>${mark.says}<//></span>
        <span class="muted nowrap">${t("group.moved", { n: mark.queues_moved })}</span>
      </li>`)}
    </ol></div>
    ${told.length > count && html`<button type="button" class="btn" onClick=${() => setCount(count + MORE)}>
      ${t("feed.more")}</button>`}
  </div>`;
}
