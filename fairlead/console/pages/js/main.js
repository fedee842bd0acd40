// Starts the page: the language, who is asking, then the shell with the page that the hash names.
import { html, render } from "./html.js";
import { AppProvider, createApp } from "./app.js";
import { Shell } from "./shell.js";

const app = createApp();

let chosen = app.settings.get();
app.settings.subscribe((now) => {
  if (now.theme !== chosen.theme) showTheme(now.theme);
  if (now.language !== chosen.language) app.speak(now.language);
  chosen = now;
});

function showTheme(theme) {
  const root = document.documentElement;
  if (theme === "auto") delete root.dataset.theme;
  else root.dataset.theme = theme;
}

// Who asks is needed for what may be written only; a page is drawn without waiting for it.
app.meet().catch(() => {});
await app.speak(chosen.language);
render(
  html`<${AppProvider} value=${app}><${Shell} app=${app} /><//>`,
  document.getElementById("root"),
);
