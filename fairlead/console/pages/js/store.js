// A value that many parts watch. A listener hears of each change once and can leave.
import { useLayoutEffect, useState } from "./html.js";

export function createStore(value) {
  const listeners = new Set();
  return {
    get: () => value,
    set(next) {
      if (next === value) return;
      value = next;
      for (const listener of [...listeners]) listener(value);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

// The hook: the store's value, or what `pick` takes of it; draws again when that changed.
export function useStore(store, pick = (value) => value) {
  const [, redraw] = useState({});
  const seen = pick(store.get());
  useLayoutEffect(() => {
    const look = () => {
      if (!Object.is(pick(store.get()), seen)) redraw({});
    };
    look();
    return store.subscribe(look);
  }, [store, seen]);
  return seen;
}
