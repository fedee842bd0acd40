// The stage of the ribbon: what is in sight, what lies where, and when it is painted again.

import { Inks } from "./ink.js";
import { itemsOf, nearestMark } from "./model.js";
import { AXIS, paint } from "./paint.js";

export const NARROWEST = 1_000;
export const WIDEST = 31 * 24 * 3_600_000;
/** The share of the width that the names of queues take at most. */
export const NAMES = 0.26;
/** So long, at least, nothing moves by itself after something moved by itself. */
export const CALM_MS = 250;
const REACH = 7;
// While it follows the present, a little of the future is in sight: the last span keeps its edge.
const AHEAD = 0.02;

/** One canvas in a scroller. `tell` is called with the name of what happened. */
export class Stage {
  view = { from: 0, to: 1, follows: true };
  scene = { model: null, rows: [], looks: new Map(), marks: [], at: null, now: 0, rowHeight: 24 };
  cursor = null;
  hover = null;
  focused = false;
  #wanted = 0;
  #inks = null;
  #ratio = 0;
  #calm = null;
  #shown = -CALM_MS;

  constructor(scroller, canvas, tell) {
    this.scroller = scroller;
    this.canvas = canvas;
    this.tell = tell;
    this.context = canvas.getContext("2d");
    this.watch = new ResizeObserver(() => this.redraw());
    this.watch.observe(scroller);
    this.repaint = () => {
      this.#inks = null;
      this.redraw();
    };
    this.theme = new MutationObserver(this.repaint);
    this.theme.observe(document.documentElement, { attributes: true });
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    this.dark.addEventListener("change", this.repaint);
    this.scrolled = () => this.redraw();
    scroller.addEventListener("scroll", this.scrolled, { passive: true });
  }

  close() {
    cancelAnimationFrame(this.#wanted);
    clearTimeout(this.#calm);
    this.watch.disconnect();
    this.theme.disconnect();
    this.dark.removeEventListener("change", this.repaint);
    this.scroller.removeEventListener("scroll", this.scrolled);
  }

  /** Take other things to show: any of the keys of `scene`. */
  show(changes) {
    Object.assign(this.scene, changes);
    if (this.view.follows) this.#follow();
    if (this.cursor !== null) this.cursor = this.#again(this.cursor);
    if (this.hover !== null) this.hover = this.#again(this.hover);
    this.redraw();
  }

  /** The same, but at most four times a second: for what changes by itself. */
  showCalmly(changes) {
    Object.assign(this.scene, changes);
    if (this.#calm !== null) return;
    const wait = this.#shown + CALM_MS - performance.now();
    const show = () => {
      this.#calm = null;
      this.#shown = performance.now();
      this.show({});
    };
    if (wait <= 0) show();
    else this.#calm = setTimeout(show, wait);
  }

  /** Take another window. */
  look(view) {
    this.view = { ...view };
    if (view.follows) this.#follow();
    this.redraw();
  }

  #follow() {
    const width = this.view.to - this.view.from;
    const to = this.scene.now + width * AHEAD;
    this.view = { from: to - width, to, follows: true };
  }

  #again(spot) {
    if (spot.mark !== undefined) return spot.mark < this.scene.marks.length ? spot : null;
    const row = this.scene.rows[spot.row];
    const same = (item) => item.kind === spot.item.kind && item.from === spot.item.from;
    const item = row && this.items(row).find(same);
    return item === undefined ? null : { row: spot.row, item };
  }

  items(row) {
    return itemsOf(row, this.view.from, this.view.to, this.scene.now);
  }

  redraw() {
    if (this.#wanted === 0) this.#wanted = requestAnimationFrame(() => this.#draw());
  }

  get gutter() {
    return Math.round(Math.min(this.scene.names ?? 160, this.width * NAMES));
  }

  #draw() {
    this.#wanted = 0;
    const ratio = devicePixelRatio || 1;
    this.width = this.scroller.clientWidth;
    this.height = this.scroller.clientHeight;
    if (this.width === 0 || this.height === 0) return;
    const [wide, high] = [Math.round(this.width * ratio), Math.round(this.height * ratio)];
    if (this.canvas.width !== wide || this.canvas.height !== high) {
      this.canvas.width = wide;
      this.canvas.height = high;
      this.canvas.style.width = `${this.width}px`;
      this.canvas.style.height = `${this.height}px`;
    }
    if (this.#inks === null || this.#ratio !== ratio) {
      this.#inks = new Inks(this.context, this.canvas, ratio);
      this.#ratio = ratio;
    }
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    paint(this.context, this.#inks, {
      ...this.scene,
      ...this.view,
      width: this.width,
      height: this.height,
      gutter: this.gutter,
      top: this.scroller.scrollTop,
      cursor: this.cursor,
      hover: this.hover,
      focused: this.focused,
    });
    this.tell("drawn");
  }

  get msPerPixel() {
    return (this.view.to - this.view.from) / Math.max(1, this.width - this.gutter);
  }

  timeAt(x) {
    return this.view.from + (x - this.gutter) * this.msPerPixel;
  }

  xOf(ms) {
    return this.gutter + (ms - this.view.from) / this.msPerPixel;
  }

  /** Return what lies at a pixel of the canvas: {row, item}, {mark}, or null. */
  spot(x, y) {
    if (x < this.gutter || this.width === undefined) return null;
    const at = this.timeAt(x);
    const { rows, marks, rowHeight } = this.scene;
    if (y < AXIS) {
      const mark = nearestMark(marks, at, REACH * this.msPerPixel);
      return mark < 0 ? null : { mark };
    }
    const index = Math.floor((y - AXIS + this.scroller.scrollTop) / rowHeight);
    const row = rows[index];
    if (row === undefined) return null;
    const reach = 2 * this.msPerPixel;
    const items = this.items(row);
    const item =
      items.find((each) => at >= each.from && at < each.to) ??
      items.find((each) => at >= each.from - reach && at < each.to + reach);
    return item === undefined ? null : { row: index, item };
  }

  /** Change the window by a factor around a pixel; 2 shows twice as much. */
  zoom(factor, x = null) {
    const { from, to, follows } = this.view;
    const width = Math.min(WIDEST, Math.max(NARROWEST, (to - from) * factor));
    const stays = follows && x === null;
    const around = x === null ? (from + to) / 2 : this.timeAt(x);
    const share = (around - from) / (to - from);
    const begin = stays ? to - width : around - width * share;
    this.move({ from: begin, to: begin + width, follows: stays });
  }

  /** Move the window by pixels; positive looks later. */
  pan(pixels) {
    const shift = pixels * this.msPerPixel;
    this.move({ from: this.view.from + shift, to: this.view.to + shift, follows: false });
  }

  /** Take a window that a person chose; one that reaches the present follows it. */
  move(view) {
    const width = view.to - view.from;
    const ahead = this.scene.now + width * AHEAD;
    const reaches = view.follows || view.to >= ahead;
    const follows = reaches && this.scene.at === null;
    this.look(reaches ? { from: ahead - width, to: ahead, follows } : view);
    this.tell("moved");
  }

  /** Bring a row into sight. */
  reveal(index) {
    const { rowHeight } = this.scene;
    const top = index * rowHeight;
    const room = this.height - AXIS;
    if (top < this.scroller.scrollTop) this.scroller.scrollTop = top;
    else if (top + rowHeight > this.scroller.scrollTop + room) {
      this.scroller.scrollTop = top + rowHeight - room;
    }
  }
}
