// The one sentence of the page: what is so, and how it is known. The worst thing is said first.
import * as format from "../format.js";

export function verdictOf({ handovers, overlaps, violations, engine }, t) {
  const { checked, unsafe, smallest_gap_ms: gap } = handovers;
  const said = (key, n) => t(`safety.${key}`, { n, count: format.number(n) });
  if (overlaps > 0)
    return { kind: "bad", says: said("says_overlaps", overlaps), why: t("safety.why_overlaps") };
  if (unsafe > 0)
    return { kind: "bad", says: said("says_unsafe", unsafe), why: t("safety.why_unsafe") };
  if (engine?.silent)
    return { kind: "warn", says: t("safety.says_silent"), why: t("safety.why_silent") };
  if (violations.length > 0) {
    return {
      kind: "warn",
      says: said("says_violations", violations.length),
      why: t("safety.why_violations"),
    };
  }
  const why =
    gap === null
      ? t("safety.why_none_checked")
      : t("safety.why_safe", { n: checked, count: format.number(checked), gap: format.span(gap) });
  return { kind: "ok", says: t("safety.says_safe"), why };
}
