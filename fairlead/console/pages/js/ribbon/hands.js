// How people move the ribbon: wheel, drag, pinch and touch.

import { AXIS } from "./paint.js";

const STILL = 4;

/** Let pointers move a stage; returns what takes the listeners away again. */
export function pointers(stage) {
  const held = new Map();
  let moved = false;
  let last = null;
  const { canvas, scroller } = stage;
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const hover = (spot, event) => {
    const same = JSON.stringify(key(stage.hover)) === JSON.stringify(key(spot));
    stage.hover = spot;
    if (!same) stage.redraw();
    canvas.style.cursor = spot === null ? "grab" : "pointer";
    stage.tell("hover", { spot, x: event.clientX, y: event.clientY });
  };
  const on = {
    pointerdown(event) {
      if (event.button !== 0) return;
      held.set(event.pointerId, [event.clientX, event.clientY]);
      moved = false;
      last = spread(held);
      canvas.setPointerCapture(event.pointerId);
    },
    pointermove(event) {
      if (!held.has(event.pointerId)) {
        if (event.pointerType !== "touch") hover(stage.spot(...place(event)), event);
        return;
      }
      held.set(event.pointerId, [event.clientX, event.clientY]);
      const next = spread(held);
      const far = Math.hypot(next.x - last.x, next.y - last.y);
      if (!moved && far < STILL && held.size === 1) return;
      moved = true;
      canvas.style.cursor = "grabbing";
      stage.tell("hover", { spot: null });
      if (held.size > 1 && last.size > 0 && next.size > 0) {
        stage.zoom(last.size / next.size, next.x - canvas.getBoundingClientRect().left);
      }
      stage.pan(last.x - next.x);
      if (event.pointerType !== "touch") scroller.scrollTop += last.y - next.y;
      last = next;
    },
    pointerup(event) {
      if (!held.delete(event.pointerId)) return;
      last = spread(held);
      if (!moved) stage.tell("pick", { spot: stage.spot(...place(event)), event });
      canvas.style.cursor = "grab";
    },
    pointercancel(event) {
      held.delete(event.pointerId);
      last = spread(held);
    },
    pointerleave(event) {
      if (held.size === 0) hover(null, event);
    },
    dblclick(event) {
      const spot = stage.spot(...place(event));
      if (spot !== null) stage.tell("open", { spot });
    },
  };
  const wheel = (event) => {
    const [x, y] = place(event);
    if (event.ctrlKey || event.metaKey || y < AXIS) {
      event.preventDefault();
      stage.zoom(Math.exp(lines(event.deltaY, event) * 0.002), Math.max(x, stage.gutter));
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      stage.pan(lines(event.deltaX || event.deltaY, event));
    }
  };
  for (const [name, call] of Object.entries(on)) canvas.addEventListener(name, call);
  canvas.addEventListener("wheel", wheel, { passive: false });
  return () => {
    for (const [name, call] of Object.entries(on)) canvas.removeEventListener(name, call);
    canvas.removeEventListener("wheel", wheel);
  };
}

const key = (spot) => spot && [spot.mark, spot.row, spot.item?.from, spot.item?.kind];

const lines = (delta, event) => (event.deltaMode === 1 ? delta * 16 : delta);

function spread(held) {
  const places = [...held.values()];
  if (places.length === 0) return { x: 0, y: 0, size: 0 };
  const x = places.reduce((sum, each) => sum + each[0], 0) / places.length;
  const y = places.reduce((sum, each) => sum + each[1], 0) / places.length;
  const [a, b] = places;
  return { x, y, size: b === undefined ? 0 : Math.hypot(a[0] - b[0], a[1] - b[1]) };
}
