// The inks of the ribbon: colours of the present theme, and the tiles of its patterns.

import { COLOURS, PATTERNS } from "./palette.js";

const TILE = 8;

/** Return what the style sheet says: {fills, text, muted, line, …}, as colours of canvas. */
export function readInks(element) {
  const style = getComputedStyle(element);
  const value = (name) => style.getPropertyValue(name).trim();
  const fills = [];
  for (let i = 0; i < COLOURS; i += 1) fills.push(value(`--rib-${i}`));
  return {
    fills,
    on: value("--rib-on"),
    edge: value("--rib-edge"),
    mark: value("--rib-mark"),
    handover: value("--rib-hatch"),
    text: value("--text"),
    muted: value("--muted"),
    line: value("--line"),
    surface: value("--surface"),
    stripe: value("--rib-stripe"),
    bad: value("--bad"),
    accent: value("--accent"),
    focus: value("--focus"),
    font: style.fontFamily,
  };
}

const strokes = [
  () => {},
  (c) => diagonal(c, false),
  (c) => diagonal(c, true),
  (c) => {
    for (const [x, y] of [[2, 2], [6, 6]]) {
      c.beginPath();
      c.arc(x, y, 1.25, 0, 2 * Math.PI);
      c.fill();
    }
  },
  (c) => c.fillRect(0, 3, TILE, 1.5),
  (c) => {
    c.fillRect(3, 0, 1.2, TILE);
    c.fillRect(0, 3, TILE, 1.2);
  },
];

function diagonal(c, falls) {
  c.beginPath();
  for (const shift of [-TILE, 0, TILE]) {
    c.moveTo(shift, falls ? 0 : TILE);
    c.lineTo(shift + TILE, falls ? TILE : 0);
  }
  c.stroke();
}

function tile(ratio, draw) {
  const canvas = document.createElement("canvas");
  canvas.width = TILE * ratio;
  canvas.height = TILE * ratio;
  const c = canvas.getContext("2d");
  c.scale(ratio, ratio);
  draw(c);
  return canvas;
}

/** Patterns of one theme at one pixel ratio; they move with the time that they lie on. */
export class Inks {
  #patterns = new Map();
  #context;
  #ratio;

  constructor(context, element, ratio) {
    this.#context = context;
    this.#ratio = ratio;
    Object.assign(this, readInks(element));
  }

  /** Return the fill of a look {colour, pattern}. */
  fill({ colour, pattern }) {
    return this.#pattern(`${colour}/${pattern}`, (c) => {
      c.fillStyle = this.fills[colour];
      c.fillRect(0, 0, TILE, TILE);
      c.fillStyle = this.mark;
      c.strokeStyle = this.mark;
      c.lineWidth = 1.4;
      strokes[pattern % PATTERNS](c);
    });
  }

  /** Return the hatch of a handover, or of a client that is silent. */
  hatch(kind) {
    return this.#pattern(`hatch/${kind}`, (c) => {
      c.strokeStyle = kind === "silent" ? this.bad : this.handover;
      c.lineWidth = kind === "silent" ? 1.6 : 1.2;
      diagonal(c, false);
      if (kind === "silent") diagonal(c, true);
    });
  }

  #pattern(key, draw) {
    if (!this.#patterns.has(key)) {
      const made = this.#context.createPattern(tile(this.#ratio, draw), "repeat");
      this.#patterns.set(key, made);
    }
    return this.#patterns.get(key);
  }

  /** Move all patterns to a pixel of the time, so that they stand still on what they fill. */
  shift(x) {
    const matrix = new DOMMatrix([1 / this.#ratio, 0, 0, 1 / this.#ratio, x % TILE, 0]);
    for (const pattern of this.#patterns.values()) pattern.setTransform(matrix);
  }
}
