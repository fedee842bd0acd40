// Finds queues and clients: what is typed is seen at once, and the page follows when it stands still.

import { html, useEffect, useRef, useState } from "../html.js";

const SETTLED_MS = 120;

export function Filter({ app, query }) {
  const { t } = app;
  const named = query.filter ?? "";
  const [text, setText] = useState(named);
  const timer = useRef(null);
  useEffect(() => {
    if (timer.current === null) setText(named);
  }, [named]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const type = (typed) => {
    setText(typed);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      timer.current = null;
      app.setQuery({ filter: typed }, { replace: true });
    }, SETTLED_MS);
  };
  return html`<label class="field filter"><span class="visually-hidden">${t("group.filter")}</span>
    <input type="search" placeholder=${t("group.filter")} value=${text}
      onInput=${(event) => type(event.target.value)} /></label>`;
}
