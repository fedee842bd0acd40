// The ownership ribbon: who worked on which queue when. A row per queue, time across (ADR 0208).

import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../html.js";
import { useApp } from "../app.js";
import { useStore } from "../store.js";
import { zoneText } from "./axis.js";
import { pointers } from "./hands.js";
import { begin, press } from "./keys.js";
import { rowLabels } from "./labels.js";
import { Legend } from "./legend.js";
import { AXIS } from "./paint.js";
import { Panel, Tooltip } from "./panel.js";
import { CALM_MS, NAMES, Stage } from "./stage.js";
import { RibbonTable } from "./table.js";
import { spoken, tell } from "./tell.js";
import { RibbonBar } from "./bar.js";

const LOCALES = { en: "en-GB", zh: "zh-CN" };
const SETTLED_MS = 150;
const REDUCED_MS = 5_000;
const SLOWEST_MS = 10_000;

/**
 * The ribbon of one group.
 *
 * `model` is a RibbonModel, `rows` those of its rows to show, `looks` what the palette gives.
 * `view` {from, to, follows} is the window that the address names; `onView` is called when a person
 * chose another one. `at` is the moment of the time travel, or null. `onAt` asks for another one.
 */
export function Ribbon({ group, model, version, rows, looks, view, onView, at, onAt }) {
  const app = useApp();
  const { t } = app;
  const scroller = useRef(null);
  const [stage, setStage] = useState(null);
  const [hover, setHover] = useState(null);
  const [picked, setPicked] = useState(null);
  const [dense, setDense] = useState(rows.length > 200);
  const rowHeight = dense ? 14 : 24;
  const moving = useRef(null);
  const calls = useRef({});
  calls.current = callsOf({ app, group, onView, setHover, setPicked, stage, moving });

  useLayoutEffect(() => {
    const made = new Stage(scroller.current, scroller.current.querySelector("canvas"), (name, data) =>
      calls.current[name]?.(data),
    );
    made.view = { ...view };
    const stop = pointers(made);
    setStage(made);
    return () => {
      clearTimeout(moving.current);
      stop();
      made.close();
    };
  }, []);
  useShown(stage, { app, model, version, rows, looks, at, rowHeight });
  useSlide(app, stage, view.follows && at === null);
  useEffect(() => {
    if (stage !== null) stage.look(view);
  }, [stage, view.from, view.to, view.follows]);

  const height = Math.max(rows.length, 1) * rowHeight + AXIS;
  const told = stage === null ? null : tell(t, stage, picked);
  return html`<div class="ribbon">
    <${RibbonBar} stage=${stage} view=${view} at=${at} keptSince=${model.kept_since_ms} onView=${onView}
      dense=${dense} onDense=${rows.length > 1 && setDense} />
    <div class="ribbon-stage" ref=${scroller} tabindex="0" role="application"
      aria-roledescription=${t("ribbon.role")} aria-label=${t("ribbon.label", { n: rows.length })}
      aria-describedby="ribbon-keys" style=${{ height: `min(${height + 2}px, 70vh)` }}
      onKeyDown=${(event) => press(stage, event) && event.preventDefault()}
      onFocus=${() => focus(stage, true)} onBlur=${() => focus(stage, false)}>
      <div class="ribbon-rows" style=${{ height: `${height}px` }}><canvas aria-hidden="true"></canvas></div>
    </div>
    <${Tooltip} told=${hover && stage && tell(t, stage, hover.spot)} place=${hover} />
    <p id="ribbon-keys" class="muted ribbon-help">${t("ribbon.keys")}</p>
    <div class="visually-hidden" role="status">${spoken(told)}</div>
    <${Panel} group=${group} told=${told} onAt=${onAt} onClose=${() => setPicked(null)} />
    <${Legend} rows=${rows} version=${version} looks=${looks} view=${view} />
    <${RibbonTable} group=${group} rows=${rows} version=${version} view=${view} looks=${looks} />
  </div>`;
}

function focus(stage, focused) {
  stage.focused = focused;
  if (focused && stage.scroller.matches(":focus-visible")) begin(stage);
  stage.redraw();
}

function callsOf({ app, group, onView, setHover, setPicked, stage, moving }) {
  return {
    moved() {
      clearTimeout(moving.current);
      moving.current = setTimeout(() => onView(stage.view), SETTLED_MS);
    },
    hover: ({ spot, x, y }) => setHover(spot === null ? null : { spot, x, y }),
    cursor: ({ spot }) => setPicked(spot),
    now: () => onView({ ...stage.view, follows: true }),
    pick({ spot }) {
      stage.cursor = spot;
      setPicked(spot);
      setHover(null);
      stage.redraw();
    },
    open({ spot }) {
      const { decision, queue } = tell(app.t, stage, spot) ?? {};
      if (spot.mark !== undefined && decision) app.go(app.href.decision(group, decision[2]));
      else if (queue) app.go(app.href.queue(group, queue));
    },
  };
}

// Shows what has changed.
function useShown(stage, { app, model, version, rows, looks, at, rowHeight }) {
  const { language } = useStore(app.words);
  const most = Math.min(260, (stage?.width ?? 800) * NAMES) - 16;
  const labels = useMemo(() => {
    const context = stage?.context;
    if (context) context.font = `12px ${getComputedStyle(stage.canvas).fontFamily}`;
    return rowLabels(model.rows, (text) => context?.measureText(text).width ?? 0, most);
  }, [stage, model, model.shape, most]);
  useEffect(() => {
    if (stage === null) return;
    const { marks } = model;
    const now = app.clock.now();
    const names = labels.width + 18;
    const words = { language: LOCALES[language], corner: zoneText(now), label: labels.label, names };
    stage.showCalmly({ model, rows, looks, marks, at, rowHeight, now, ...words });
  }, [stage, version, rows, looks, at, rowHeight, language, labels]);
}

// While it follows the present, it moves on by whole pixels; it stands still when paused.
function useSlide(app, stage, follows) {
  const { paused } = useStore(app.settings);
  useEffect(() => {
    if (stage === null || !follows || paused) return undefined;
    const reduced = matchMedia("(prefers-reduced-motion: reduce)");
    let timer = null;
    const slide = () => {
      if (!document.hidden) stage.showCalmly({ now: app.clock.now() });
      const pixel = Math.min(SLOWEST_MS, Math.max(CALM_MS, stage.msPerPixel));
      timer = setTimeout(slide, reduced.matches ? Math.max(REDUCED_MS, pixel) : pixel);
    };
    timer = setTimeout(slide, CALM_MS);
    return () => clearTimeout(timer);
  }, [app, stage, follows, paused]);
}
