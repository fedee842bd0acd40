// A small history: one bar for each of a few equal spans, with the same told in words.
import { html, useMemo } from "../html.js";

const WIDTH = 88;
const HEIGHT = 22;

export function Spark({ values, label }) {
  const path = useMemo(() => bars(values ?? []), [values]);
  return html`<svg class="spark" viewBox="0 0 ${WIDTH} ${HEIGHT}" width=${WIDTH} height=${HEIGHT}
    role="img" aria-label=${label}><title>${label}</title>
    <path d="M0 ${HEIGHT - 0.5}H${WIDTH}" stroke="var(--line-strong)" fill="none" />
    <path d=${path} fill="var(--accent)" />
  </svg>`;
}

// By the square root: a day with one great move still shows the small ones.
function bars(values) {
  const most = Math.max(1, ...values);
  const step = WIDTH / Math.max(1, values.length);
  return values
    .map((value, i) => {
      if (!value) return "";
      const height = Math.max(2, Math.sqrt(value / most) * (HEIGHT - 2));
      const [x, y, width] = [i * step + 0.5, height, step - 1].map((each) => each.toFixed(1));
      return `M${x} ${HEIGHT}v-${y}h${width}v${y}z`;
    })
    .join("");
}
