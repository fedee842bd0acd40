// The one sentence of the page: what is so, and how it is known. The worst thing is said first.
import * as format from "../format.js";

export function verdictOf(safety, t) {
  const { handovers, overlaps, violations, verdicts, engine } = safety;
  const { checked, unsafe, smallest_gap_ms: gap } = handovers;
  const told = (kind, name, n) => ({
    kind,
    says: t(`safety.says_${name}`, { n, count: format.number(n) }),
    why: t(`safety.why_${name}`, { n }),
  });
  // Nothing is said of what was not read: an empty view is not a safe one.
  if (safety.ready === false || safety.as_of_ms === 0) return told("wait", "unread");
  if (overlaps > 0) return told("bad", "overlaps", overlaps);
  if (unsafe > 0) return told("bad", "unsafe", unsafe);
  if (isMissed(engine, verdicts)) return told("warn", "silent");
  const name = checked === 0 ? "none_checked" : gap === null ? "safe" : "safe_gap";
  const values = { n: checked, count: format.number(checked), gap: format.span(gap) };
  const why = t(`safety.why_${name}`, values);
  if (violations.length === 0) return { kind: "ok", says: t("safety.says_safe"), why };
  const wrong = told("warn", "violations", violations.length);
  return { ...wrong, why: `${wrong.why} ${why}` };
}

// Where nobody is in a group, nobody needs an engine.
function isMissed(engine, { safe, problems }) {
  return safe + problems > 0 && (engine === null || engine.silent);
}
