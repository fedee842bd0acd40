// Buttons, and a menu below one.
import { html, useEffect, useRef, useState } from "../html.js";
import { useApp } from "../app.js";
import { Icon } from "./icon.js";

export function Button({ kind = "plain", icon, children, ...rest }) {
  return html`<button type="button" class="btn" data-kind=${kind} ...${rest}>
    ${icon && html`<${Icon} name=${icon} />`}${children && html`<span>${children}</span>`}
  </button>`;
}

// Puts a text on the clipboard; tells what to do where the browser forbids it.
export async function copy(app, text) {
  try {
    await navigator.clipboard.writeText(text);
    app.say(app.t("copy.done"));
  } catch {
    const held = document.createElement("textarea");
    held.value = text;
    held.className = "visually-hidden";
    const focused = document.activeElement;
    document.body.append(held);
    held.select();
    const done = document.execCommand("copy");
    held.remove();
    focused?.focus();
    app.say(done ? app.t("copy.done") : app.t("copy.refused"));
  }
}

export function CopyButton({ text, label, kind = "plain" }) {
  const app = useApp();
  const run = () => copy(app, typeof text === "function" ? text() : text);
  return html`<${Button} kind=${kind} icon="copy" onClick=${run}>
    ${label ?? app.t("copy.label")}<//>`;
}

// A list of things to do below its button: arrows move, Escape closes and goes back.
export function Menu({ label, icon, items }) {
  const [open, setOpen] = useState(false);
  const box = useRef(null);
  const button = useRef(null);
  const entries = () => [...box.current.querySelectorAll("[role=menuitem]")];
  useEffect(() => {
    if (!open) return undefined;
    entries()[0]?.focus();
    const outside = (event) => {
      if (!box.current.contains(event.target)) setOpen(false);
    };
    document.addEventListener("pointerdown", outside);
    return () => document.removeEventListener("pointerdown", outside);
  }, [open]);
  const shut = () => {
    setOpen(false);
    button.current.focus();
  };
  const onKeyDown = (event) => {
    if (!open) return;
    const all = entries();
    const at = all.indexOf(document.activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      all[(to + all.length) % all.length].focus();
    } else if (event.key === "Escape") {
      event.stopPropagation();
      shut();
    } else if (event.key === "Tab") {
      setOpen(false);
    }
  };
  return html`<div class="menu" ref=${box} onKeyDown=${onKeyDown}>
    <button type="button" class="btn" ref=${button} aria-haspopup="menu" aria-expanded=${open}
      onClick=${() => setOpen(!open)}>
      ${icon && html`<${Icon} name=${icon} />`}<span>${label}</span><${Icon} name="chevron" />
    </button>
    ${
      open &&
      html`<div class="popover" role="menu" aria-label=${label}>
      ${items.map(
        (item) => html`<button type="button" role="menuitem" tabindex="-1" key=${item.label}
        onClick=${() => {
          shut();
          item.run();
        }}>${item.label}</button>`,
      )}
    </div>`
    }
  </div>`;
}
