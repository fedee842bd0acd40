// Being built.
import { html } from "../html.js";
import { Page } from "../parts/page.js";

export const title = ({ t }) => t("safety.title");

export default function View({ app }) {
  return html`<${Page} title=${app.t("safety.title")}><//>`;
}
