// Being built.
import { html } from "../html.js";
import { Page } from "../parts/page.js";

export const title = ({ params }) => params.group;

export default function View({ params }) {
  return html`<${Page} title=${params.group}><//>`;
}
