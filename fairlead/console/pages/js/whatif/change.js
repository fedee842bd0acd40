// What somebody asks "what if" about: the body of a plan, as the address keeps it.

const EMPTY = { joins: [], leaves: [], routes: [], rules: [], unset: [] };

/** Return the body that an address names; what is no such body counts as nothing. */
export function bodyOf(text) {
  if (text === undefined) return EMPTY;
  try {
    const told = JSON.parse(text);
    const list = (key) => (Array.isArray(told[key]) ? told[key] : []);
    return Object.fromEntries(Object.keys(EMPTY).map((key) => [key, list(key)]));
  } catch {
    return EMPTY;
  }
}

/** Return the text that the address keeps; null: nothing is asked. */
export function textOf(body) {
  const told = Object.entries(body).filter(([, list]) => list.length > 0);
  return told.length === 0 ? null : JSON.stringify(Object.fromEntries(told));
}

export const asksNothing = (body) => Object.values(body).every((list) => list.length === 0);

/** Return whether all that is asked can be written here: rules, and nothing that others do. */
export const hasRules = (body) => body.rules.length + body.unset.length > 0;
export const hasOthers = (body) => body.joins.length + body.leaves.length + body.routes.length > 0;

const same = (a, b) => JSON.stringify(a ?? null) === JSON.stringify(b ?? null);

/** Return a body with a rule of this name and subject; `value` null takes it away. */
export function withRule(body, rule, subject, value) {
  const rules = body.rules.filter((each) => each.rule !== rule || !same(each.subject, subject));
  if (value !== null) rules.push(subject === null ? { rule, value } : { rule, subject, value });
  return { ...body, rules };
}

/** Return the value of a rule that a body sets, or undefined. */
export function ruleOf(body, rule, subject) {
  return body.rules.find((each) => each.rule === rule && same(each.subject, subject))?.value;
}

/** Return a body with so many more clients; their names are not those of any member. */
export function withJoins(body, count, members) {
  const taken = new Set([...members, ...body.joins.map((each) => each.client_id)]);
  const joins = [...body.joins];
  for (let n = 1; joins.length < body.joins.length + count; n += 1) {
    if (!taken.has(`new-${n}`)) joins.push({ client_id: `new-${n}` });
  }
  return { ...body, joins };
}

/** Return a body in which a topic has so many queues on a broker; null takes the change away. */
export function withRoute(body, topic, broker, queues) {
  const routes = body.routes.filter((each) => each.topic !== topic || each.broker_name !== broker);
  if (queues !== null) routes.push({ topic, broker_name: broker, queues });
  return { ...body, routes };
}

/** Return the sizes of a group's routes: {topic, broker, queues} each. */
export function routesOf(queues) {
  const sizes = new Map();
  for (const { queue } of queues) {
    const key = JSON.stringify(queue.slice(0, 2));
    sizes.set(key, (sizes.get(key) ?? 0) + 1);
  }
  return [...sizes].map(([key, count]) => {
    const [topic, broker] = JSON.parse(key);
    return { topic, broker, queues: count };
  });
}
