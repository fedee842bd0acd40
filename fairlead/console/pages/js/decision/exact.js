// A moment to the millisecond: in a handover, seconds tell nothing.

import { html } from "../html.js";
import { useApp } from "../app.js";
import { clock, instant, utc } from "../format.js";

export function Exact({ ms }) {
  useApp();
  if (ms == null) return html`<span class="muted">–</span>`;
  return html`<time class="num nowrap" datetime=${new Date(ms).toISOString()} title=${`${instant(ms)} · ${utc(ms)}`}>${clock(ms)}<span
    class="muted">.${String(ms % 1000).padStart(3, "0")}</span></time>`;
}
