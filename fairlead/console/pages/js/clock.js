// The server's time, told by this computer's clock and the last difference to the server's.
import { useEffect, useState } from "./html.js";

export function createClock() {
  let skew = 0;
  let frozen = null;
  const listeners = new Set();
  let timer = null;
  const now = () => frozen ?? Date.now() + skew;
  const tick = () => {
    for (const listener of [...listeners]) listener();
  };
  const run = () => {
    const wanted = listeners.size > 0 && frozen === null && !document.hidden;
    if (wanted && timer === null) timer = setInterval(tick, 1000);
    if (!wanted && timer !== null) {
      clearInterval(timer);
      timer = null;
    }
  };
  document.addEventListener("visibilitychange", () => {
    run();
    if (timer !== null) tick();
  });
  return {
    now,
    // Small differences are the way of the answer through the network, not a wrong clock.
    set(serverNow) {
      const next = serverNow - Date.now();
      if (Math.abs(next - skew) > 500) skew = next;
    },
    freeze(still) {
      frozen = still ? now() : null;
      run();
      tick();
    },
    subscribe(listener) {
      listeners.add(listener);
      run();
      return () => {
        listeners.delete(listener);
        run();
      };
    },
  };
}

// The hook: now in steps of `stepMs`, so that what is drawn with it changes no more often.
export function useNow(clock, stepMs = 1000) {
  const step = () => Math.floor(clock.now() / stepMs);
  const [, setStep] = useState(step);
  useEffect(() => clock.subscribe(() => setStep(step())), [clock, stepMs]);
  return clock.now();
}
