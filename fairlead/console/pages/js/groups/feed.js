// The newest rebalances of all groups as a log: what comes is read aloud when the reader is idle.
import { html } from "../html.js";
import { useApp } from "../app.js";
import { Name } from "../parts/name.js";
import { Ago } from "../parts/time.js";
import { triggersText } from "./columns.js";

const KEPT = 40;

// The feed with the last rebalances of `lines` in it, newest first and no longer than it may be.
export function fed(feed, lines) {
  const known = new Set(feed.map(({ key }) => key));
  const oldest = feed.length < KEPT ? -Infinity : feed.at(-1).append_ms;
  const fresh = [];
  for (const { group, last_rebalance: last } of lines) {
    if (!last || last.append_ms <= oldest) continue;
    const key = `${last.append_ms} ${group}`;
    if (!known.has(key)) fresh.push({ key, group, ...last });
  }
  if (fresh.length === 0) return feed;
  return [...fresh, ...feed].sort((a, b) => b.append_ms - a.append_ms).slice(0, KEPT);
}

export function Feed({ entries }) {
  const { t } = useApp();
  return html`<section class="card rebalances" aria-labelledby="feed">
    <div class="card-head"><h2 id="feed">${t("groups.feed")}</h2></div>
    <div class="rebalances-list" role="log" aria-live="polite" aria-relevant="additions"
      aria-labelledby="feed" tabindex="0">
      <ol>${entries.map((entry) => html`<${Entry} key=${entry.key} entry=${entry} />`)}</ol>
      ${entries.length === 0 && html`<p class="muted">${t("groups.feed_empty")}</p>`}
    </div>
  </section>`;
}

function Entry({ entry: { group, append_ms: at, triggers, queues_moved: moved } }) {
  const { t, href } = useApp();
  return html`<li>
    <${Name} href=${href.group(group)}>${group}<//>
    <span>${t("groups.moved", { n: moved })} · ${triggersText(t, triggers)}</span>
    <span class="muted" aria-live="off"><${Ago} ms=${at} /></span>
  </li>`;
}
