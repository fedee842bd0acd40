// Which colour, pattern and short label a client has: never colour alone.

import { plain } from "../parts/name.js";

export const COLOURS = 8;
export const PATTERNS = 6;

/** Return a number of 32 bits for a text: the same text has the same number everywhere. */
export function hashOf(text) {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0;
  }
  hash ^= hash >>> 15;
  return Math.imul(hash, 0x2c1b3c6d) >>> 0;
}

function leastUsed(uses, count, first) {
  let best = first % count;
  for (let step = 1; step < count; step += 1) {
    const each = (first + step) % count;
    if ((uses.get(each) ?? 0) < (uses.get(best) ?? 0)) best = each;
  }
  return best;
}

// A member that works now is told from others before one that is only remembered.
const MEMBER = 16;

/**
 * Give each client a colour and a pattern that it keeps.
 *
 * A client begins with the pair that its id names. It takes one that fewer have if another client
 * of the group has it, so twelve clients never look alike; beyond that, labels tell them apart.
 */
export class Palette {
  #looks = new Map();

  /** Return {colour, pattern, label, name} for each of these clients, by client id. */
  lookOf(clients, members = []) {
    const working = new Set(members);
    const here = new Set(clients);
    const uses = { colours: new Map(), patterns: new Map(), taken: new Set() };
    const take = (client, { colour, pattern }) => {
      const weight = working.has(client) ? MEMBER : 1;
      uses.colours.set(colour, (uses.colours.get(colour) ?? 0) + weight);
      uses.patterns.set(pattern, (uses.patterns.get(pattern) ?? 0) + weight);
      uses.taken.add(colour * PATTERNS + pattern);
    };
    for (const [client, look] of this.#looks) if (here.has(client)) take(client, look);
    const others = [...here].filter((each) => !working.has(each)).sort();
    for (const client of [...[...working].sort(), ...others]) {
      if (this.#looks.has(client)) continue;
      const look = this.#choose(client, uses);
      this.#looks.set(client, look);
      take(client, look);
    }
    const labels = shortLabels([...here]);
    return new Map(
      [...here].map((each) => [each, { ...this.#looks.get(each), label: labels.get(each), name: plain(each) }]),
    );
  }

  #choose(client, { colours, patterns, taken }) {
    const hash = hashOf(client);
    const colour = leastUsed(colours, COLOURS, hash % COLOURS);
    let pattern = leastUsed(patterns, PATTERNS, (hash >>> 8) % PATTERNS);
    for (let step = 0; step < PATTERNS; step += 1) {
      const each = (pattern + step) % PATTERNS;
      if (!taken.has(colour * PATTERNS + each)) {
        pattern = each;
        break;
      }
    }
    return { colour, pattern };
  }
}

const LABEL_MAX = 10;
const SHARED = 0.5;

/** Return a short label for each client: the words that tell it from others, cut to ten characters. */
export function shortLabels(clients) {
  const words = new Map(clients.map((each) => [each, wordsOf(plain(each))]));
  const uses = new Map();
  for (const list of words.values()) {
    for (const word of new Set(list.map(([, each]) => each))) uses.set(word, (uses.get(word) ?? 0) + 1);
  }
  const own = (client) =>
    words.get(client).filter(([, word]) => uses.get(word) <= Math.max(1, clients.length * SHARED));
  const labels = new Map();
  const taken = new Set();
  for (const client of [...clients].sort()) {
    const name = plain(client);
    const told = own(client).map(([mark, word], i) => (i === 0 ? word : mark + word)).join("");
    const forms = [name, told, name].map((form, i) => (i === 0 ? form : cutMiddle(form, LABEL_MAX)));
    let label = forms.find((form) => form !== "" && [...form].length <= LABEL_MAX && !taken.has(form));
    for (let n = 2; label === undefined; n += 1) {
      const numbered = `${[...forms[2]].slice(0, LABEL_MAX - 3).join("")}~${n}`;
      if (!taken.has(numbered)) label = numbered;
    }
    taken.add(label);
    labels.set(client, label);
  }
  return labels;
}

// The words of a name, each with the mark before it.
function wordsOf(name) {
  return [...name.matchAll(/(^|[-_.@:/#\s])([^-_.@:/#\s]+)/gu)].map(([, mark, word]) => [mark, word]);
}

/** Return a text of at most `most` characters that keeps its begin and its end. */
export function cutMiddle(text, most) {
  const characters = [...text];
  if (characters.length <= most) return text;
  const head = Math.ceil((most - 1) / 2);
  const tail = most - 1 - head;
  return `${characters.slice(0, head).join("")}…${characters.slice(characters.length - tail).join("")}`;
}

const palettes = new Map();

/** Return the palette of a group: the same on all of its pages, as long as the tab lives. */
export function paletteOf(group) {
  if (!palettes.has(group)) palettes.set(group, new Palette());
  return palettes.get(group);
}
