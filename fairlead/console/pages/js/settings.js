// What a person chose in this browser: theme, language, how often the page changes. Nothing secret.
import { createStore } from "./store.js";

const KEY = "fairlead.console";
export const INTERVALS_MS = [250, 1000, 2000, 5000, 10000, 30000, 60000];
export const THEMES = ["auto", "light", "dark"];
export const LANGUAGES = ["auto", "en", "zh"];

export function createSettings(storage = globalThis.localStorage) {
  const store = createStore({ ...known(read(storage)), paused: false });
  const set = (change) => {
    const next = { ...store.get(), ...change };
    store.set(next);
    write(storage, known(next));
  };
  return { ...store, set };
}

function known({ theme, language, interval_ms: interval } = {}) {
  return {
    theme: THEMES.includes(theme) ? theme : "auto",
    language: LANGUAGES.includes(language) ? language : "auto",
    interval_ms: INTERVALS_MS.includes(interval) ? interval : 1000,
  };
}

function read(storage) {
  try {
    return JSON.parse(storage.getItem(KEY)) ?? {};
  } catch {
    return {};
  }
}

function write(storage, value) {
  try {
    storage.setItem(KEY, JSON.stringify(value));
  } catch {
    // A browser that keeps nothing forgets the choice with the tab.
  }
}
