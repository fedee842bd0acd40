// A state in a word with a shape. The colour only helps; the shape and the word tell it.
import { html } from "../html.js";
import { useApp } from "../app.js";
import { Icon } from "./icon.js";

// How a phase of a group looks; a phase that is not known here looks like news.
const KINDS = {
  stable: "ok",
  handing_over: "busy",
  settling: "busy",
  barrier: "busy",
  waiting_for_clients: "busy",
  waiting_for_offsets: "busy",
  waiting_for_route: "busy",
  unknown: "busy",
  recovering: "bad",
  quarantined: "bad",
  paused: "idle",
  empty: "idle",
};

export function Chip({ kind = "info", title, children }) {
  return html`<span class="chip" data-kind=${kind} title=${title}><${Icon} name=${kind} /><span>
    ${children}</span></span>`;
}

export function PhaseChip({ phase }) {
  const { t } = useApp();
  const name = phase ?? "unknown";
  const known = name in KINDS;
  return html`<${Chip} kind=${known ? KINDS[name] : "info"}
    title=${known ? t(`phase.${name}_says`) : undefined}>
    ${known ? t(`phase.${name}`) : name}<//>`;
}
