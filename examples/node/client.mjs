// A whole client of Fairlead's gateway, without dependencies; (1) to (4) are the four rules.
// It is run as in examples/README.md. WORK: the module with your work; else it counts, one in PACE seconds.
import { setTimeout as sleep } from "node:timers/promises";
const [url, group, clientId, topic] = process.argv.slice(2);
const { PACE: pace = 0.1, TOKEN: token, WORK: own } = process.env;
const { read = count, journal = print, close = () => process.exit() } = own ? await import(own) : {};
const works = new Map(); // what we work on: queue -> { queue, epoch, position, stopping }
let stopped = []; // what nobody has heard yet
let sequence = 0; // rises with every poll, over joins too (4)
let leaving = false;
let lease = { sent: now(), ms: 0 }; // when the newest answered request was sent, its lease_ms (1)
let request = new AbortController(); // the one under way

// Of two clocks one stands still while the machine sleeps, and somebody may set the other.
function now() { return [performance.now(), Date.now()]; }
function left() { return lease.ms - Math.max(...now().map((time, clock) => time - lease.sent[clock])); }

function count({ position }) { return sleep(1000 * pace, { offset: position }); }

function print(event, { queue, epoch, position }, { offset = position } = {}) {
  console.log(JSON.stringify({ time: Date.now(), event, queue, epoch, offset }));
}

function end(event, work) {
  journal(event, work);
  works.delete(String(work.queue));
  stopped.push(words(work));
}

const words = ({ queue, epoch, position }) => ({ queue, epoch, position });
const names = (all, work) => all.some((each) => same(each.queue, work.queue) && same(each.epoch, work.epoch));
const same = (one, other) => String(one) === String(other);

// Works on one queue, from its start to its end.
async function run(work) {
  while (true) {
    const message = await read(work); // YOUR WORK: the first message from work.position on, if there is one soon
    if (works.get(String(work.queue)) !== work || left() <= 0) return; // nothing comes of it (1)
    if (message) {
      journal("message", work, message); // YOUR WORK: what comes of it
      work.position = message.offset + 1;
    }
    if (work.stopping || leaving) {
      end("stopped", work); // nothing is in hand any more (2)
      request.abort(); // somebody waits for this word: a newer poll says it now
      return;
    }
  }
}

// Returns the status and the answer; status 0: none came.
async function ask(method, path, body, patience) {
  request = new AbortController();
  const signal = AbortSignal.any([request.signal, AbortSignal.timeout(Math.max(1, Math.floor(patience)))]);
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
  let [status, answer] = [0, {}];
  try {
    const response = await fetch(url + path, { method, headers, body: JSON.stringify(body), signal });
    [status, answer] = [response.status, response.status === 204 ? {} : await response.json()];
  } catch {} // it was given up, or the connection broke
  const isDone = [200, 201, 204, 409].includes(status) || signal.aborted;
  if (!isDone) await sleep(200); // soon another gateway answers
  return [status, answer];
}

function obey(answer) {
  for (const work of [...works.values()]) {
    work.stopping ||= names(answer.stop, work);
    if (!names(answer.working, work)) end("lost", work); // too late: at once, and it says how far it came
  }
  for (const { queue, epoch, offset } of answer.start) {
    if (works.has(String(queue))) continue; // a start comes again until a poll has named it
    const work = { queue, epoch, position: offset, stopping: false }; // exactly there (3)
    works.set(String(queue), work);
    journal("start", work);
    run(work);
  }
}

// From a join to the end of its lease.
async function session() {
  let sent = now();
  const member = { client_id: clientId, topics: [{ topic }], consume_from: "first_offset", language: "node" };
  let [status, answer] = await ask("POST", `/v1/groups/${group}/members`, member, 5000);
  const path = `/v1/sessions/${answer.session}`;
  let state = answer.state;
  lease = { sent, ms: status === 201 ? answer.lease_ms : 0 };
  while (left() > 0 && status !== 409 && status !== 204) {
    sent = now();
    sequence += 1;
    const said = { state, sequence, stopped: [...stopped] };
    const wasLeaving = leaving;
    const poll = { ...said, working: [...works.values()].map(words), wait_ms: 3000, leaving }; // (3)
    const patience = Math.min(left(), 5000);
    [status, answer] = leaving && works.size === 0
      ? await ask("DELETE", path, said, patience) // its last words
      : await ask("POST", `${path}/poll`, poll, patience);
    // An answer counts while the lease holds, and if there is nothing newer to be said (4).
    if (status !== 200 || left() <= 0 || leaving !== wasLeaving) continue;
    state = answer.state;
    lease = { sent, ms: answer.lease_ms };
    stopped = stopped.slice(said.stopped.length);
    obey(answer);
  }
  for (const work of [...works.values()]) end("lost", work); // the lease is over: all stops at once,
  stopped = []; // and nothing is said of it (2)
  if (answer.reason === "duplicate_client_id" || (status >= 400 && ![409, 429, 500, 503].includes(status))) {
    console.error(answer.detail, answer.remedy);
    process.exit(1);
  }
}

for (const signal of ["SIGTERM", "SIGINT"]) {
  process.on(signal, () => {
    leaving = true;
    if (works.size === 0) request.abort();
  });
}
while (!leaving) await session();
close();
