// Time travel: a slider, a typed time and steps from decision to decision choose a moment.

import { html, useEffect, useState } from "../html.js";
import { useApp } from "../app.js";
import { clock, instant, utc } from "../format.js";
import { useNow } from "../clock.js";
import { Button } from "../parts/button.js";
import { Instant } from "../parts/time.js";
import { firstAfter } from "../ribbon/model.js";

const pad = (n, size = 2) => String(n).padStart(size, "0");

/** Return a moment as an input of type datetime-local takes it, in the browser's time. */
export function typed(ms) {
  const day = new Date(ms);
  const date = `${pad(day.getFullYear(), 4)}-${pad(day.getMonth() + 1)}-${pad(day.getDate())}`;
  return `${date}T${pad(day.getHours())}:${pad(day.getMinutes())}:${pad(day.getSeconds())}`;
}

/** Under the ribbon: `at` is the moment, or null for now; `onAt` is called with another one. */
export function Travel({ model, at, onAt }) {
  const app = useApp();
  const { t } = app;
  const now = useNow(app.clock, 5_000);
  const oldest = model.kept_since_ms;
  const [moving, setMoving] = useState(null);
  useEffect(() => setMoving(null), [at]);
  if (oldest === null || oldest >= now) return html`<p class="muted">${t("travel.nothing")}</p>`;
  const shown = moving ?? at ?? now;
  const choose = (ms) => {
    const moment = Math.min(Math.max(ms, oldest), now);
    if (moment >= now - 1_000) onAt(null);
    else onAt(Math.round(moment));
  };
  const marks = model.marks;
  const next = firstAfter(marks, shown, (mark) => mark.append_ms);
  const before = marks[firstAfter(marks, shown - 1, (mark) => mark.append_ms) - 1];
  const step = (mark) => mark && choose(mark.append_ms);
  return html`<div class="travel" role="group" aria-label=${t("travel.title")}>
    <label class="travel-slide"><span>${t("travel.slide")}</span>
      <input type="range" min=${oldest} max=${Math.ceil(now)} step="1000" value=${shown}
        aria-valuetext=${at === null && moving === null ? t("ribbon.now") : instant(shown)}
        onInput=${(event) => setMoving(Number(event.target.value))}
        onChange=${(event) => choose(Number(event.target.value))} />
      <span class="travel-ends" aria-hidden="true"><span title=${utc(oldest)}>${instant(oldest)}</span>
        <output>${moving === null ? "" : clock(moving)}</output><span>${t("ribbon.now")}</span></span>
    </label>
    <div class="row">
      <${Button} disabled=${before === undefined} onClick=${() => step(before)}>${t("travel.back")}<//>
      <${Button} disabled=${marks[next] === undefined} onClick=${() => step(marks[next])}>${t("travel.on")}<//>
      <label class="field"><span>${t("travel.typed")}</span>
        <input type="datetime-local" step="1" value=${typed(shown)} min=${typed(oldest)} max=${typed(now)}
          onChange=${(event) => event.target.value && choose(new Date(event.target.value).getTime())} />
      </label>
      ${at !== null && html`<${Button} kind="primary" onClick=${() => onAt(null)}>${t("travel.live")}<//>`}
    </div>
  </div>`;
}

/** At the top of a page that shows the past. */
export function AsOf({ at, onAt, waits = false }) {
  const { t } = useApp();
  return html`<div class="as-of" role="status" aria-busy=${waits}>
    <span class="grow"><strong>${t("travel.as_of")} <${Instant} ms=${at} /></strong> ${t(waits ? "travel.waits" : "travel.as_of_says")}</span>
    <${Button} kind="primary" onClick=${() => onAt(null)}>${t("travel.live")}<//>
  </div>`;
}
