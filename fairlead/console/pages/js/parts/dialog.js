// A question over the page. The browser keeps the focus in it and gives it back afterwards.
import { html, useEffect, useRef, useState } from "../html.js";
import { useApp } from "../app.js";
import { Icon } from "./icon.js";

let dialogs = 0;

export function Dialog({ open, title, onclose, children }) {
  const { t } = useApp();
  const box = useRef(null);
  const from = useRef(null);
  const [id] = useState(() => `dialog-${(dialogs += 1)}`);
  useEffect(() => {
    if (open && !box.current.open) {
      from.current = document.activeElement;
      box.current.showModal();
    }
    if (!open && box.current.open) {
      box.current.close();
      from.current?.focus();
    }
  }, [open]);
  return html`<dialog ref=${box} aria-labelledby=${id} onClose=${() => {
    if (open) onclose();
  }}>
    <div class="card-head">
      <h2 id=${id} class="grow">${title}</h2>
      <button type="button" class="btn" data-kind="quiet" aria-label=${t("shell.close")}
        onClick=${onclose}>
        <${Icon} name="close" /></button>
    </div>
    ${open && children}
  </dialog>`;
}
