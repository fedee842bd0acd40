// Moments and spans. A moment always tells its full date too, by its title and for machines.
import { html, useMemo } from "../html.js";
import { useApp } from "../app.js";
import { useNow } from "../clock.js";
import * as format from "../format.js";

// The dates of a moment, worked out once: a page draws its ages each second.
function useDates(app, ms) {
  const { language } = app.words.get();
  return useMemo(() => {
    if (ms == null) return null;
    const machine = new Date(ms).toISOString();
    return { machine, title: `${format.instant(ms)} · ${format.utc(ms)}` };
  }, [ms, language]);
}

function Moment({ dates, children }) {
  if (!dates) return html`<span class="muted">–</span>`;
  const { machine, title } = dates;
  return html`<time class="num nowrap" datetime=${machine} title=${title}>${children}</time>`;
}

export function Ago({ ms }) {
  const app = useApp();
  const now = useNow(app.clock);
  return html`<${Moment} dates=${useDates(app, ms)}>${format.ago(ms, now)}<//>`;
}

export function Instant({ ms, short = false }) {
  const dates = useDates(useApp(), ms);
  const text = dates && (short ? format.clock(ms) : format.instant(ms));
  return html`<${Moment} dates=${dates}>${text}<//>`;
}

export function Span({ ms }) {
  useApp();
  return html`<span class="num nowrap">${format.span(ms)}</span>`;
}
