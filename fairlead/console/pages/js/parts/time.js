// Moments and spans. A moment always tells its full date too, by its title and for machines.
import { html } from "../html.js";
import { useApp } from "../app.js";
import { useNow } from "../clock.js";
import * as format from "../format.js";

const both = (ms) => `${format.instant(ms)} · ${format.utc(ms)}`;

export function Ago({ ms }) {
  const app = useApp();
  const now = useNow(app.clock);
  if (ms == null) return html`<span class="muted">–</span>`;
  return html`<time class="num nowrap" datetime=${new Date(ms).toISOString()} title=${both(ms)}>
    ${format.ago(ms, now)}</time>`;
}

export function Instant({ ms, short = false }) {
  useApp();
  if (ms == null) return html`<span class="muted">–</span>`;
  const text = short ? format.clock(ms) : format.instant(ms);
  return html`<time class="num nowrap" datetime=${new Date(ms).toISOString()} title=${both(ms)}>
    ${text}</time>`;
}

export function Span({ ms }) {
  useApp();
  return html`<span class="num nowrap">${format.span(ms)}</span>`;
}
