// The time axis: where its ticks are, and what they say.

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS = [
  10, 20, 50, 100, 200, 500,
  SECOND, 2 * SECOND, 5 * SECOND, 10 * SECOND, 15 * SECOND, 30 * SECOND,
  MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE,
  HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 30 * DAY,
];

/** Return {step, ticks: [ms…]} of a window; at least `apart` pixels lie between two ticks. */
export function ticksOf(from, to, width, apart) {
  const least = ((to - from) / Math.max(1, width)) * apart;
  const step = STEPS.find((each) => each >= least) ?? STEPS.at(-1);
  const shift = -new Date(from).getTimezoneOffset() * MINUTE;
  const ticks = [];
  for (let tick = Math.ceil((from + shift) / step) * step - shift; tick <= to; tick += step) {
    ticks.push(tick);
  }
  return { step, ticks };
}

const forms = new Map();

function form(language, options) {
  const key = language + JSON.stringify(options);
  if (!forms.has(key)) forms.set(key, new Intl.DateTimeFormat(language, options));
  return forms.get(key);
}

const TIME = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
const TIME_SECONDS = { ...TIME, second: "2-digit" };
const DATE = { month: "short", day: "numeric" };

/** Return the text of a tick: a date at midnight, else a time as fine as the step. */
export function tickText(tick, step, language) {
  const day = new Date(tick);
  if (step >= DAY || (day.getHours() === 0 && day.getMinutes() === 0 && step >= MINUTE)) {
    return form(language, DATE).format(day);
  }
  if (step >= MINUTE) return form(language, TIME).format(day);
  if (step >= SECOND) return form(language, TIME_SECONDS).format(day);
  return form(language, { ...TIME_SECONDS, fractionalSecondDigits: 3 }).format(day);
}

/** Return the browser's offset from UTC at a moment, such as UTC+01:00. */
export function zoneText(ms) {
  const minutes = -new Date(ms).getTimezoneOffset();
  const sign = minutes < 0 ? "−" : "+";
  const two = (n) => String(Math.floor(n)).padStart(2, "0");
  const size = Math.abs(minutes);
  return minutes === 0 ? "UTC" : `UTC${sign}${two(size / 60)}:${two(size % 60)}`;
}
