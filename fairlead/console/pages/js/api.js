// Asks the server. Its errors come as problem+json: what is wrong, and what to do about it.

export class Problem extends Error {
  constructor({ status = 0, title = "", detail = "", remedy = "", field = null, type = "" }) {
    super(detail || title);
    Object.assign(this, { status, title, detail, remedy, field, type });
  }
}

export async function problemOf(response) {
  const body = await response.json().catch(() => null);
  const told = body && typeof body === "object" ? body : {};
  return new Problem({ title: response.statusText, ...told, status: response.status });
}

// What an operator must know beside the answer: sentences in a header of their own.
function notesOf(response) {
  try {
    return JSON.parse(response.headers.get("fairlead-notes") ?? "[]");
  } catch {
    return [];
  }
}

// `onUnknown` is called when the server does not know who asks (401).
export function createApi({ csrf, onUnknown }) {
  async function ask(path, options = {}) {
    let response;
    try {
      response = await fetch(path, { credentials: "same-origin", cache: "no-store", ...options });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Problem({ type: "urn:fairlead:unreachable", detail: "unreachable" });
    }
    if (!response.ok) {
      const problem = await problemOf(response);
      if (response.status === 401 && !options.keepAt401) onUnknown(problem);
      throw problem;
    }
    options.onNotes?.(notesOf(response));
    return response.status === 204 ? null : response.json();
  }
  const get = (path, { signal, keepAt401 } = {}) =>
    ask(path, { signal, keepAt401, headers: { accept: "application/json" } });
  const post = (path, body, { keepAt401, signal, onNotes } = {}) =>
    ask(path, {
      method: "POST",
      keepAt401,
      signal,
      onNotes,
      headers: {
        accept: "application/json",
        "content-type": "application/json",
        ...(csrf() ? { "x-fairlead-csrf": csrf() } : {}),
      },
      body: JSON.stringify(body),
    });
  return { get, post };
}
