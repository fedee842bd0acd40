// Numbers, spans and moments as people read them; pure, in the language that is set.
let language = "en";
let numbers, instants, clocks, days;

export function setLanguage(next) {
  language = next === "zh" ? "zh-CN" : "en-GB";
  numbers = new Intl.NumberFormat(next === "zh" ? "zh-CN" : "en-US");
  instants = new Intl.DateTimeFormat(language, {
    year: "numeric",
    month: "short",
    day: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hourCycle: "h23",
    timeZoneName: "short",
  });
  clocks = new Intl.DateTimeFormat(language, {
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hourCycle: "h23",
  });
  days = new Intl.DateTimeFormat(language, {
    month: "short",
    day: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  });
}
setLanguage("en");

const chinese = () => language === "zh-CN";
const UNITS = [
  [86_400_000, "d", "天"],
  [3_600_000, "h", "小时"],
  [60_000, "min", "分"],
];

export const number = (value) => (value == null ? "–" : numbers.format(value));
export const instant = (ms) => instants.format(ms);
export const clock = (ms) => clocks.format(ms);
export const dayClock = (ms) => days.format(ms);
export const utc = (ms) =>
  new Date(ms)
    .toISOString()
    .replace("T", " ")
    .replace(/(\.000)?Z$/, "Z");

// A length of time in one or two units: 85 ms, 3.2 s, 4 min 5 s, 3 h 20 min, 2 d.
export function span(ms) {
  if (ms == null) return "–";
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ${chinese() ? "毫秒" : "ms"}`;
  if (ms < 60_000) return `${whole(ms / 1000)} ${chinese() ? "秒" : "s"}`;
  const at = UNITS.findIndex(([size]) => ms >= size);
  const [size, english, other] = UNITS[at];
  const first = `${Math.floor(ms / size)} ${chinese() ? other : english}`;
  const [next, nextEnglish, nextOther] = UNITS[at + 1] ?? [1000, "s", "秒"];
  const rest = Math.floor((ms % size) / next);
  return rest ? `${first} ${rest} ${chinese() ? nextOther : nextEnglish}` : first;
}

const whole = (value) =>
  value < 10 ? String(Math.round(value * 10) / 10) : String(Math.floor(value));

// How long ago in one unit, without tenths: it is drawn each second.
export function ago(ms, now) {
  if (ms == null) return "–";
  const past = Math.max(0, now - ms);
  if (past < 2000) return chinese() ? "刚刚" : "just now";
  const [size, english, other] = UNITS.find(([each]) => past >= each) ?? [1000, "s", "秒"];
  const count = Math.floor(past / size);
  if (!chinese()) return `${count} ${english} ago`;
  return `${count} ${other === "分" ? "分钟" : other}前`;
}

export function bytes(size) {
  if (size == null) return "–";
  return size < 1024 ? `${size} B` : `${whole(size / 1024)} KiB`;
}
