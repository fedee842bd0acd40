// Takes what a page shows out of it: as JSON, as CSV, or as the command that tells the same.
import { html } from "../html.js";
import { useApp } from "../app.js";
import { copy, Menu } from "./button.js";

const FORMULA = /^[=+\-@\t\r]/;

// A cell of CSV. A text that a spreadsheet would take for a formula is kept a text.
export function csvCell(value) {
  if (value == null) return "";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function csvOf(columns, rows) {
  const head = columns.map(({ key }) => csvCell(key)).join(",");
  const body = rows.map((row) => columns.map(({ value }) => csvCell(value(row))).join(","));
  return `${[head, ...body].join("\r\n")}\r\n`;
}

export function save(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 0);
}

// `cli` may be a text or a function; without it the entry is left out.
export function ExportMenu({ name, json, columns, rows, cli }) {
  const app = useApp();
  const { t } = app;
  const file = name.replace(/[^\w.-]+/g, "_").slice(0, 80);
  const items = [
    json && {
      label: t("export.json"),
      run: () => save(`${file}.json`, "application/json", `${JSON.stringify(json(), null, 2)}\n`),
    },
    rows && {
      label: t("export.csv"),
      run: () => save(`${file}.csv`, "text/csv;charset=utf-8", csvOf(columns, rows())),
    },
    cli && {
      label: t("export.cli"),
      run: () => copy(app, typeof cli === "function" ? cli() : cli),
    },
  ].filter(Boolean);
  return html`<${Menu} label=${t("export.label")} icon="down" items=${items} />`;
}

// A name as an argument of a POSIX shell.
export const shellWord = (text) =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
