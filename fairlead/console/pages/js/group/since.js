// How long ago something was; on a page that shows the past, when it was.

import { html } from "../html.js";
import { Ago, Instant } from "../parts/time.js";

export function Since({ ms, at }) {
  return at === null || at === undefined ? html`<${Ago} ms=${ms} />` : html`<${Instant} ms=${ms} short />`;
}
