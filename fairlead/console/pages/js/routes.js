// The pages. A page's code is loaded when it is first opened.
const route = (name, path, load) => ({ name, parts: path.split("/"), load });

export const ROUTES = [
  route("groups", "groups", () => import("./views/groups.js")),
  route("group", "groups/:group", () => import("./views/group.js")),
  route("decision", "groups/:group/decisions/:offset", () => import("./views/decision.js")),
  route("queue", "groups/:group/queues/:topic/:broker/:id", () => import("./views/queue.js")),
  route("what-if", "groups/:group/what-if", () => import("./views/what-if.js")),
  route("native", "native", () => import("./views/native.js")),
  route("native-group", "native/:native/:group", () => import("./views/native-group.js")),
  route("safety", "safety", () => import("./views/safety.js")),
  route("login", "login", () => import("./views/login.js")),
];
