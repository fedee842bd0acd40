// Paint the ribbon: rows that are in sight, the gaps between owners, and the lines of decisions.

import { tickText, ticksOf } from "./axis.js";
import { firstAfter, itemsOf } from "./model.js";

export const AXIS = 34;

const isolated = (text) => `\u2068${text}\u2069`;

/**
 * Paint one picture.
 *
 * `scene`: {width, height, gutter, rowHeight, top, from, to, now, at, rows, marks, looks, label,
 * language, cursor, hover}. `top` is how far the rows are scrolled, in pixels; times are ms.
 */
export function paint(c, inks, scene) {
  const { width, height, gutter } = scene;
  const across = width - gutter;
  const perMs = across / (scene.to - scene.from);
  const x = (ms) => gutter + (ms - scene.from) * perMs;
  c.clearRect(0, 0, width, height);
  c.textBaseline = "middle";
  inks.shift(x(0) % 8);
  const { step, ticks } = ticksOf(scene.from, scene.to, across, 84);
  c.fillStyle = inks.line;
  for (const tick of ticks) c.fillRect(Math.round(x(tick)), AXIS, 1, height - AXIS);
  c.save();
  c.beginPath();
  c.rect(0, AXIS, width, height - AXIS);
  c.clip();
  paintRows(c, inks, scene, x);
  c.restore();
  paintNow(c, inks, scene, x);
  paintMarks(c, inks, scene, x);
  paintAxis(c, inks, scene, x, step, ticks);
  paintAt(c, inks, scene, x);
}

function paintRows(c, inks, scene, x) {
  const { rows, rowHeight, top, height, width, gutter, from, to, now } = scene;
  const first = Math.max(0, Math.floor(top / rowHeight));
  const last = Math.min(rows.length, Math.ceil((top + height - AXIS) / rowHeight));
  c.font = `${Math.min(12, rowHeight - 3)}px ${inks.font}`;
  for (let i = first; i < last; i += 1) {
    const y = AXIS + i * rowHeight - top;
    const row = rows[i];
    if (i % 2 === 1) {
      c.fillStyle = inks.stripe;
      c.fillRect(0, y, width, rowHeight);
    }
    c.save();
    c.beginPath();
    c.rect(gutter, y, width - gutter, rowHeight);
    c.clip();
    paintItems(c, inks, scene, x, row, y, itemsOf(row, from, to, now));
    c.restore();
    if (rowHeight >= 12 || i % Math.ceil(12 / rowHeight) === 0) paintName(c, inks, scene, row, y);
    if (scene.cursor?.row === i || scene.hover?.row === i) paintFocus(c, inks, scene, x, i, y);
  }
}

function paintName(c, inks, { gutter, rowHeight, label }, row, y) {
  c.fillStyle = inks.text;
  c.textAlign = "right";
  c.fillText(isolated(label(row)), gutter - 8, y + rowHeight / 2 + 0.5, gutter - 12);
}

function paintItems(c, inks, scene, x, row, y, items) {
  const { rowHeight, gutter, width, looks } = scene;
  const pad = rowHeight >= 16 ? 2 : 1;
  const high = rowHeight - 2 * pad;
  let painted = -1;
  for (const item of items) {
    const left = Math.max(gutter - 4, x(item.from));
    const right = Math.min(width + 4, x(item.to));
    const wide = Math.max(item.kind === "gap" ? 2 : 1, right - left);
    if (right - left < 1 && Math.floor(left) === painted) continue;
    painted = Math.floor(left);
    if (item.kind === "gap") {
      c.fillStyle = inks.hatch("gap");
      c.fillRect(left, y + pad + high * 0.2, wide, high * 0.6);
      continue;
    }
    const look = looks.get(item.span.client_id);
    paintSpan(c, inks, { item, look, left, wide, y: y + pad, high, x });
  }
}

function paintSpan(c, inks, { item, look, left, wide, y, high, x }) {
  const { span } = item;
  const fill = look === undefined ? inks.stripe : inks.fill(look);
  c.fillStyle = fill;
  if (span.waits) c.globalAlpha = 0.35;
  c.fillRect(left, y, wide, high);
  c.globalAlpha = 1;
  const shade = (since, kind) => {
    const begin = Math.max(left, x(since));
    const end = left + wide;
    if (end - begin < 0.5) return;
    c.fillStyle = inks.surface;
    c.globalAlpha = 0.62;
    c.fillRect(begin, y, end - begin, high);
    c.globalAlpha = 1;
    c.fillStyle = inks.hatch(kind);
    c.fillRect(begin, y, end - begin, high);
  };
  if (span.silent_since_ms != null) shade(span.silent_since_ms, "silent");
  else if (span.asked_ms != null) shade(span.asked_ms, "gap");
  c.lineWidth = 1;
  c.strokeStyle = span.unsafe ? inks.bad : inks.edge;
  if (wide > 2) {
    if (span.waits) c.setLineDash([3, 3]);
    c.strokeRect(left + 0.5, y + 0.5, wide - 1, high - 1);
    c.setLineDash([]);
  }
  if (span.unsafe) {
    c.fillStyle = inks.bad;
    c.fillRect(left, y + high - 3, wide, 3);
  }
  if (look !== undefined && wide >= 22 && high >= 12) paintLabel(c, inks, span, look, left, wide, y, high);
}

function paintLabel(c, inks, span, look, left, wide, y, high) {
  const start = Math.max(left, 0) + 4;
  const room = left + wide - start - 4;
  const sign = span.unsafe ? "! " : "";
  const text = [look.name, look.label].find(
    (each) => c.measureText(sign + each).width + 6 <= room,
  );
  if (text === undefined) return;
  const said = isolated(sign + text);
  const size = c.measureText(said).width;
  if (look.pattern !== 0 || span.waits) {
    c.fillStyle = inks.fills[look.colour];
    c.fillRect(start - 1, y + 2, size + 6, high - 4);
  }
  c.fillStyle = inks.on;
  c.textAlign = "left";
  c.fillText(said, start + 2, y + high / 2 + 0.5);
}

function paintFocus(c, inks, scene, x, i, y) {
  const strong = scene.cursor?.row === i && scene.focused;
  const item = strong ? scene.cursor.item : scene.hover?.row === i ? scene.hover.item : null;
  if (item == null) return;
  const left = Math.max(scene.gutter, x(item.from));
  const right = Math.min(scene.width, Math.max(x(item.to), left + 3));
  c.strokeStyle = strong ? inks.focus : inks.text;
  c.lineWidth = strong ? 3 : 1.5;
  c.strokeRect(left, y + 1, right - left, scene.rowHeight - 2);
}

function paintNow(c, inks, { now, to, gutter, width, height }, x) {
  if (now >= to) return;
  const left = Math.max(gutter, x(now));
  c.fillStyle = inks.stripe;
  c.fillRect(left, AXIS, width - left, height - AXIS);
  c.fillStyle = inks.muted;
  c.fillRect(left, AXIS - 6, 1, height);
}

// Lines hide what they cross, so many of them fade, and then only their flags are left.
const LINES_APART = 5;
const FLAGS_APART = 9;

function paintMarks(c, inks, scene, x) {
  const { marks, from, to, height, gutter, width } = scene;
  const first = firstAfter(marks, from - 1, (mark) => mark.append_ms);
  const last = firstAfter(marks, to, (mark) => mark.append_ms);
  const apart = (width - gutter) / Math.max(1, last - first);
  const line = Math.min(0.45, Math.max(0, (apart - LINES_APART) / 40));
  let painted = -2;
  for (let i = first; i < last; i += 1) {
    const mark = marks[i];
    const left = Math.round(x(mark.append_ms));
    const moved = mark.queues_moved > 0;
    const chosen = scene.cursor?.mark === i || scene.hover?.mark === i;
    if (left < gutter || (left === painted && !chosen)) continue;
    painted = left;
    c.fillStyle = chosen ? inks.accent : inks.text;
    c.globalAlpha = chosen ? 1 : moved ? line : line / 2;
    c.fillRect(left, AXIS, chosen ? 2 : 1, height);
    c.globalAlpha = chosen ? 1 : moved ? 0.8 : 0.45;
    if (apart < FLAGS_APART && !chosen) c.fillRect(left, AXIS - 12, 1, moved ? 11 : 6);
    else paintFlag(c, left, moved || chosen ? 5 : 3);
    c.globalAlpha = 1;
    if (scene.cursor?.mark === i && scene.focused) {
      c.strokeStyle = inks.focus;
      c.lineWidth = 3;
      c.strokeRect(left - 7, AXIS - 16, 15, 15);
    }
  }
}

function paintFlag(c, x, size) {
  c.beginPath();
  c.moveTo(x + 0.5 - size, AXIS - 8 - size);
  c.lineTo(x + 0.5 + size, AXIS - 8 - size);
  c.lineTo(x + 0.5, AXIS - 8 + size);
  c.fill();
  c.fillRect(x, AXIS - 8, 1, 8);
}

function paintAxis(c, inks, scene, x, step, ticks) {
  c.fillStyle = inks.line;
  c.fillRect(0, AXIS - 1, scene.width, 1);
  c.font = `11px ${inks.font}`;
  c.fillStyle = inks.muted;
  c.textAlign = "center";
  for (const tick of ticks) {
    const left = x(tick);
    if (left < scene.gutter + 18 || left > scene.width - 20) continue;
    c.fillText(tickText(tick, step, scene.language), left, 10);
  }
  c.textAlign = "right";
  c.fillText(scene.corner, scene.gutter - 8, 10, scene.gutter - 12);
}

function paintAt(c, inks, { at, from, to, height }, x) {
  if (at === null || at < from || at > to) return;
  const left = Math.round(x(at));
  c.fillStyle = inks.accent;
  c.fillRect(left - 1, 0, 3, height);
  c.beginPath();
  c.arc(left + 0.5, 7, 6, 0, 2 * Math.PI);
  c.fill();
}
