// What moves the window of the ribbon, for those without a wheel.

import { html } from "../html.js";
import { useApp } from "../app.js";
import { Button } from "../parts/button.js";

const MINUTE = 60_000;
const WIDTHS = [
  ["ribbon.minutes_5", 5 * MINUTE],
  ["ribbon.minutes_15", 15 * MINUTE],
  ["ribbon.hour", 60 * MINUTE],
  ["ribbon.hours_6", 360 * MINUTE],
  ["ribbon.day", 1440 * MINUTE],
];

export function RibbonBar({ stage, view, at, onView, dense, onDense }) {
  const { t } = useApp();
  const width = view.to - view.from;
  const show = (ms) => {
    const middle = at ?? (view.from + view.to) / 2;
    stage.move({ from: middle - ms / 2, to: middle + ms / 2, follows: view.follows });
  };
  const now = () => onView({ ...view, follows: true });
  const pan = (share) => stage.pan(share * (stage.width - stage.gutter));
  const act = (label, run, text) => html`<button type="button" class="btn ribbon-act" title=${label}
    aria-label=${label} onClick=${run}>${text}</button>`;
  return html`<div class="toolbar ribbon-bar">
    <div class="segments" role="group" aria-label=${t("ribbon.window")}>
      ${WIDTHS.map(([key, ms]) => html`<button type="button" class="btn" key=${key}
        aria-pressed=${Math.abs(width - ms) < ms * 0.05} onClick=${() => show(ms)}>${t(key)}</button>`)}
    </div>
    <div class="segments" role="group" aria-label=${t("ribbon.move")}>
      ${act(t("ribbon.earlier"), () => pan(-0.5), "◀")}
      ${act(t("ribbon.zoom_out"), () => stage.zoom(2), "−")}
      ${act(t("ribbon.zoom_in"), () => stage.zoom(0.5), "+")}
      ${act(t("ribbon.later"), () => pan(0.5), "▶")}
    </div>
    ${at === null && !view.follows && html`<${Button} onClick=${now}>${t("ribbon.follow")}<//>`}
    ${onDense && html`<button type="button" class="btn" aria-pressed=${dense} onClick=${() => onDense(!dense)}>
      ${t("ribbon.dense")}
    </button>`}
  </div>`;
}
