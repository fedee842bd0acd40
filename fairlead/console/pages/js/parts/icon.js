// Small drawings. Each stands beside words, so none of them is read aloud.
import { html } from "../html.js";

const line = (d) => html`<path d=${d} fill="none" stroke="currentColor" stroke-width="1.75"
  stroke-linecap="round" stroke-linejoin="round" />`;
const full = (d) => html`<path d=${d} fill="currentColor" />`;
const ring = "M8 2.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 1 0 0-11z";

const DRAWINGS = {
  mark: () => html`<rect width="16" height="16" rx="4" fill="var(--accent)" />
    <path d="M4 11.8V4.4h5M4 8h4" fill="none" stroke="var(--accent-text)" stroke-width="1.7"
      stroke-linecap="round" stroke-linejoin="round" />
    <circle cx="11.4" cy="10.6" r="1.7" fill="none" stroke="var(--accent-text)"
      stroke-width="1.4" />`,
  pause: () => line("M5.5 3.5v9M10.5 3.5v9"),
  play: () => full("M4.5 2.8v10.4L13 8z"),
  options: () => line("M2.5 4.5h6M12 4.5h1.5M2.5 11.5h2M8 11.5h5.5M10.2 3v3M6.2 10v3"),
  copy: () => line("M6 6h7v7H6zM3 10V3h7"),
  down: () => line("M8 2.5v8M4.5 7.5L8 11l3.5-3.5M3 13.5h10"),
  chevron: () => line("M4.5 6.5L8 10l3.5-3.5"),
  back: () => line("M9.5 4L5.5 8l4 4"),
  search: () => line("M7 2.8a4.2 4.2 0 1 0 0 8.4a4.2 4.2 0 1 0 0-8.4zM10.2 10.2L13.5 13.5"),
  close: () => line("M4 4l8 8M12 4l-8 8"),
  ok: () => line("M3.5 8.5l3 3l6-7"),
  busy: () => line("M3 6h9M9.5 3.5L12 6M13 10H4M6.5 12.5L4 10"),
  warn: () => line("M8 2.8L14 13H2zM8 6.5v3M8 11.2v.1"),
  bad: () => line("M5.4 2.5h5.2L13.5 5.4v5.2l-2.9 2.9H5.4L2.5 10.6V5.4zM6 6l4 4M10 6l-4 4"),
  idle: () => line("M4 8h8"),
  info: () => line(`${ring}M8 7.5v3.2M8 5.2v.1`),
  wait: () => line(`${ring}M8 5v3.2l2 1.4`),
  "state-live": () => html`<circle cx="8" cy="8" r="3.5" fill="currentColor" />`,
  "state-connecting": () => line(`${ring}M8 5v3.2l2 1.4`),
  "state-reconnecting": () => line("M13 8a5 5 0 1 1-1.5-3.6M13 2.5v2.4h-2.4"),
  "state-paused": () => line("M5.5 3.5v9M10.5 3.5v9"),
  "state-hidden": () => line("M5.5 3.5v9M10.5 3.5v9"),
  "state-waiting": () => line(`${ring}M8 5v3.2l2 1.4`),
  "state-behind": () => line(`${ring}M8 5v3.2l2 1.4`),
  "state-refused": () => line("M4 4l8 8M12 4l-8 8"),
  "state-idle": () => line("M4 8h8"),
};

export function Icon({ name }) {
  return html`<svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"
    focusable="false">${DRAWINGS[name]?.()}</svg>`;
}
