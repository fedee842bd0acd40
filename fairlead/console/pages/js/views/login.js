// Being built.
import { html } from "../html.js";
import { Page } from "../parts/page.js";

export const title = ({ t }) => t("login.title");

export default function View({ app }) {
  return html`<${Page} title=${app.t("login.title")}><//>`;
}
