// What the ribbon tells of one span, gap or decision: beside the pointer, and below the ribbon.

import { html, useEffect, useLayoutEffect, useRef, useState } from "../html.js";
import { useApp } from "../app.js";
import { Button } from "../parts/button.js";

function Facts({ facts }) {
  return html`<dl class="told">
    ${facts.map(([label, text]) => html`<div key=${label}><dt>${label}</dt><dd><bdi>${text}</bdi></dd></div>`)}
  </dl>`;
}

/** Beside the pointer; Escape takes it away. What it tells is in the panel too, by a click. */
export function Tooltip({ told, place }) {
  const box = useRef(null);
  const [away, setAway] = useState(null);
  useLayoutEffect(() => {
    if (box.current === null || place === null) return;
    const { width, height } = box.current.getBoundingClientRect();
    const left = Math.min(place.x + 14, innerWidth - width - 8);
    const below = place.y + 18;
    const top = below + height > innerHeight ? place.y - height - 12 : below;
    box.current.style.left = `${Math.max(8, left)}px`;
    box.current.style.top = `${Math.max(8, top)}px`;
  });
  useEffect(() => {
    if (place === null) return undefined;
    const escape = (event) => {
      if (event.key === "Escape") setAway(told?.head ?? null);
    };
    document.addEventListener("keydown", escape);
    return () => document.removeEventListener("keydown", escape);
  }, [place, told?.head]);
  if (!told || place === null || away === told.head) return null;
  return html`<div class="ribbon-tip" ref=${box} role="tooltip"><strong>${told.head}</strong>
    <${Facts} facts=${told.facts} /></div>`;
}

/** Below the ribbon: what was chosen, with its links. */
export function Panel({ group, told, onAt, onClose }) {
  const app = useApp();
  const { t } = app;
  if (told === null) return html`<div class="ribbon-panel muted">${t("ribbon.choose")}</div>`;
  const { head, facts, queue, decision, at } = told;
  return html`<div class="ribbon-panel" role="group" aria-label=${t("ribbon.panel")}>
    <div class="row"><strong class="grow">${head}</strong>
      <${Button} kind="quiet" onClick=${onClose}>${t("ribbon.close")}<//></div>
    <${Facts} facts=${facts} />
    <div class="row">
      ${queue && html`<a href=${app.href.queue(group, queue)}>${t("ribbon.to_queue")}</a>`}
      ${decision && html`<a href=${app.href.decision(group, decision[2])}>${t("ribbon.to_decision")}</a>`}
      ${at !== null && html`<${Button} kind="quiet" onClick=${() => onAt(at)}>${t("ribbon.to_moment")}<//>`}
    </div>
  </div>`;
}
