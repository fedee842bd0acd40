// The frame of a page: its one heading with what can be done there, and its sections.
import { html, useState } from "../html.js";

export function Page({ title, kicker, actions, children }) {
  return html`<div class="page">
    <div class="page-head">
      <div class="grow">
        ${kicker && html`<div class="kicker">${kicker}</div>`}
        <h1 tabindex="-1">${title}</h1>
      </div>
      ${actions && html`<div class="actions">${actions}</div>`}
    </div>
    ${children}
  </div>`;
}

let sections = 0;

export function Section({ title, id, actions, kind, children }) {
  const [own] = useState(() => `section-${(sections += 1)}`);
  return html`<section class="card" aria-labelledby=${id ?? own} data-kind=${kind}>
    <div class="card-head"><h2 id=${id ?? own} class="grow">${title}</h2>${actions}</div>
    ${children}
  </section>`;
}

export const Empty = ({ children }) => html`<div class="empty">${children}</div>`;

// One number with what it counts.
export function Figure({ label, value, says, kind }) {
  return html`<div class="figure" data-kind=${kind}>
    <dt>${label}</dt><dd class="figure-value">${value}</dd>
    ${says && html`<dd class="muted">${says}</dd>`}
  </div>`;
}
