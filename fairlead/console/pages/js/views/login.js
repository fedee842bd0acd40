// Shows a token to the server once. The browser keeps it where no script can read it.
import { html, useEffect, useRef, useState } from "../html.js";
import { Button } from "../parts/button.js";
import { Inert } from "../parts/name.js";
import { Page } from "../parts/page.js";
import { Note, ProblemBox } from "../parts/problem.js";
import { useStore } from "../store.js";

export const title = ({ t }) => t("login.title");

export default function Login({ app }) {
  const { t } = app;
  const me = useStore(app.me);
  const [problem, setProblem] = useState(null);
  const [asking, setAsking] = useState(false);
  const input = useRef(null);
  useEffect(() => {
    app.meet().catch(() => {});
  }, []);
  const submit = async (event) => {
    event.preventDefault();
    setAsking(true);
    try {
      await app.api.post(
        "api/v1/login",
        { token: input.current.value.trim() },
        { keepAt401: true },
      );
      await app.meet();
      input.current.value = "";
      app.go(app.afterLogin || app.href.groups(), { replace: true });
    } catch (wrong) {
      setProblem(wrong);
      input.current?.focus();
    } finally {
      setAsking(false);
    }
  };
  const open = me?.via === "nobody";
  return html`<${Page} title=${t("login.title")}>
    <div class="card login">
      ${open && html`<${Note}><p>${t("login.open")}</p><p><a href=${app.href.groups()}>
        ${t("groups.title")}</a></p><//>`}
      ${
        me &&
        !open &&
        html`<${Note} kind="ok"><p>${t("login.as")} <${Inert}>${me.principal}<//></p>
        <p><a href=${app.href.groups()}>${t("groups.title")}</a></p><//>`
      }
      ${
        !open &&
        html`<form onSubmit=${submit}>
        ${problem && html`<${ProblemBox} problem=${problem} />`}
        <label class="field"><span>${t("login.token")}</span>
          <input ref=${input} type="password" name="token" autocomplete="current-password" required
            spellcheck=${false} aria-invalid=${problem !== null} aria-describedby="token-says" />
        </label>
        <p id="token-says" class="muted">${t("login.token_says")}</p>
        <${Button} type="submit" kind="primary" disabled=${asking}>${t("login.title")}<//>
      </form>`
      }
    </div>
  <//>`;
}
