// A part of a page that is drawn anew only when what it shows has changed.

import { useMemo } from "../html.js";

/** `of` is what it shows, as a list; `draw` returns it. */
export function Kept({ of, draw }) {
  return useMemo(draw, of);
}
