// Names that others chose. They are text and nothing else: set apart from the direction of what
// stands around them, with every character that hides or turns others shown by its number.
import { html } from "../html.js";

// Controls, what joins or parts invisibly, what turns the direction, tags.
const UNSEEN = new RegExp(
  [
    "[\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u180e\\u200b-\\u200f\\u2028-\\u202e]",
    "[\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb]",
    "[\\u{e0000}-\\u{e007f}]",
  ].join("|"),
  "gu",
);

// The text in pieces; what is not seen is told as U+202E.
export function pieces(text) {
  const found = [];
  let from = 0;
  for (const { 0: character, index } of text.matchAll(UNSEEN)) {
    if (index > from) found.push(text.slice(from, index));
    found.push({
      code: `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`,
    });
    from = index + character.length;
  }
  if (from < text.length) found.push(text.slice(from));
  return found;
}

export const plain = (text) =>
  pieces(String(text))
    .map((piece) => (piece.code ? `⟨${piece.code}⟩` : piece))
    .join("");

export function Inert({ children }) {
  const text = Array.isArray(children) ? children.join("") : String(children ?? "");
  return html`<bdi>${pieces(text).map((piece) =>
    piece.code ? html`<span class="unseen">${piece.code}</span>` : piece,
  )}</bdi>`;
}

export function Name({ children, href, title }) {
  const text = Array.isArray(children) ? children.join("") : String(children ?? "");
  const shown = text === "" ? html`<span class="muted">""</span>` : html`<${Inert}>${text}<//>`;
  return href
    ? html`<a class="name" href=${href} title=${title}>${shown}</a>`
    : html`<span class="name" title=${title}>${shown}</span>`;
}

// A queue as RocketMQ's tools write it: topic, broker, number.
export function QueueName({ queue: [topic, broker, id], href }) {
  return html`<${Name} href=${href}>${`${topic} ${broker}-${id}`}<//>`;
}

export const placeText = ([topic, partition, offset]) => `${topic}/${partition}@${offset}`;
export const epochText = (epoch) => (epoch ? epoch.join(".") : "–");

export const Place = ({ at }) =>
  html`<span class="mono name"><${Inert}>${at ? placeText(at) : "–"}<//></span>`;
export const Epoch = ({ epoch }) => html`<span class="mono num">${epochText(epoch)}</span>`;
