// A word of the trade with what it means: by pointer, by keyboard and by touch.

import { html, useEffect, useLayoutEffect, useRef, useState } from "../html.js";
import { useApp } from "../app.js";

let terms = 0;

/** `word` is a word of the glossary; `children` is what stands in the text, if not the word. */
export function Term({ word, children }) {
  const { t } = useApp();
  const [id] = useState(() => `term-${(terms += 1)}`);
  const [open, setOpen] = useState(false);
  const button = useRef(null);
  const bubble = useRef(null);
  useLayoutEffect(() => {
    if (!open) return;
    const at = button.current.getBoundingClientRect();
    const { width, height } = bubble.current.getBoundingClientRect();
    const below = at.bottom + 6 + height < innerHeight;
    bubble.current.style.left = `${Math.max(8, Math.min(at.left, innerWidth - width - 8))}px`;
    bubble.current.style.top = `${below ? at.bottom + 2 : at.top - height - 2}px`;
  }, [open]);
  useEffect(() => {
    if (!open) return undefined;
    const close = () => setOpen(false);
    const escape = (event) => event.key === "Escape" && close();
    document.addEventListener("keydown", escape);
    window.addEventListener("scroll", close, { passive: true });
    return () => {
      document.removeEventListener("keydown", escape);
      window.removeEventListener("scroll", close);
    };
  }, [open]);
  const byMouse = (value) => (event) => event.pointerType === "mouse" && setOpen(value);
  return html`<span class="term" onPointerEnter=${byMouse(true)} onPointerLeave=${byMouse(false)}>
    <button type="button" ref=${button} aria-describedby=${open ? id : undefined}
      onClick=${() => setOpen(true)} onBlur=${() => setOpen(false)}>${children ?? t(`term.${word}`)}</button>
    ${open && html`<span class="term-bubble" role="tooltip" id=${id} ref=${bubble}>${t(`term.${word}_says`)}</span>`}
  </span>`;
}
