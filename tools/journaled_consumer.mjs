// A consumer for the judge: the clients of examples/node, a journal, and commands on the standard
// input: join, hold, resume and leave, as the consumers of `fairlead demo` obey them.
import { openSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";

const names = ["bootstrap", "group", "topic", "client-id", "journal", "settings", "broker-name"];
const options = Object.fromEntries(names.map((name) => [name, { type: "string" }]));
const { values: flags } = parseArgs({ options, strict: false }); // other flags are for others
const journalFile = openSync(flags.journal, "a");
let letGo = null; // ends the hold; null: nothing is held
let held = null; // a promise of that
let heldQueue = null; // of this queue id; null: of any

process.env.BOOTSTRAP = flags.bootstrap;
const kafka = await import("./kafka.mjs");

export async function read(work) {
  const message = await kafka.read(work);
  if (message && held && (heldQueue === null || heldQueue === work.queue[2])) {
    write("held", work, { offset: message.offset });
    await held;
  }
  return message;
}

export function journal(event, work, message) {
  if (event === "start") write("start", work, { epoch: work.epoch, offset: work.position });
  else if (event === "message") write("consumed", work, { offset: message.offset, number: Number(message.value) });
  else write("stop", work, { epoch: work.epoch, offset: work.position });
}

function write(kind, { queue: [topic, , partition] }, fields) {
  const queue = [topic, flags["broker-name"], partition];
  // Other journals take their times from the same clock of this machine.
  const line = { kind, queue, ...fields, t: Number(process.hrtime.bigint()) };
  writeSync(journalFile, `${JSON.stringify(line)}\n`);
  say(line);
}

export const close = () => {}; // `run` ends the process

const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

function resume() {
  letGo?.();
  letGo = held = null;
}

function leave() {
  if (!begun) process.exit(0);
  resume();
  process.kill(process.pid, "SIGTERM");
}

async function run() {
  begun = true;
  const ask = globalThis.fetch;
  globalThis.fetch = async (...request) => {
    const answer = await ask(...request);
    if (answer.status === 201) say({ event: "joined" });
    return answer;
  };
  process.env.WORK = import.meta.url;
  const { gateway } = JSON.parse(flags.settings);
  process.argv.splice(2, process.argv.length, gateway, flags.group, flags["client-id"], flags.topic);
  await import("./client.mjs");
  say({ event: "left" });
  process.exit(0);
}

let begun = false;
const commands = createInterface({ input: process.stdin });
commands.on("line", (line) => {
  const { do: command, queue_id: queueId = null } = JSON.parse(line);
  if (command === "join") run();
  else if (command === "hold") {
    heldQueue = queueId;
    held = new Promise((resolve) => (letGo = resolve));
  } else if (command === "resume") resume();
  else leave();
});
commands.on("close", leave); // whoever wrote the commands is gone
process.on("SIGTERM", () => (begun ? resume() : process.exit(0)));
say({ event: "ready" });
