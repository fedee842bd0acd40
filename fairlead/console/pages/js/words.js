// The words of the page in the language of its reader. The server's own sentences stay English.
import { number } from "./format.js";
import { createStore, useStore } from "./store.js";

export const KNOWN = { en: "English", zh: "中文" };

// The language to show: the chosen one, else the first of the browser's that is known.
export function languageOf(chosen, preferred = navigator.languages ?? []) {
  if (chosen in KNOWN) return chosen;
  return preferred.map((tag) => tag.slice(0, 2).toLowerCase()).find((tag) => tag in KNOWN) ?? "en";
}

export function createWords() {
  const store = createStore({ language: "en", words: {}, plural: new Intl.PluralRules("en") });
  const load = async (language) => {
    const words = (await import(`../words/${language}.js`)).default;
    store.set({ language, words, plural: new Intl.PluralRules(language) });
    document.documentElement.lang = language === "zh" ? "zh-CN" : "en";
  };
  return { ...store, load, t: (key, values) => told(store.get(), key, values) };
}

// One text: `{name}` is replaced by values.name; {one, other} is chosen by values.n.
export function told({ words, plural }, key, values = {}) {
  const word = words[key];
  if (word === undefined) return key;
  const text = typeof word === "string" ? word : (word[plural.select(values.n ?? 0)] ?? word.other);
  return text.replace(/\{(\w+)\}/g, (all, name) => (name in values ? shown(values[name]) : all));
}

const shown = (value) => (typeof value === "number" ? number(value) : String(value));

export const useWords = (words) => useStore(words);
