// The ribbon by keyboard: arrows walk over marks, rows and spans; Enter opens.

const PAGE = 10;

/** Let the keys move the cursor of a stage; returns whether the key meant something. */
export function press(stage, event) {
  if (event.altKey || event.metaKey) return false;
  const act = ACTS[event.shiftKey && event.key.startsWith("Arrow") ? `Shift${event.key}` : event.key];
  if (act === undefined || (event.ctrlKey && !event.key.startsWith("Arrow"))) return false;
  act(stage);
  return true;
}

const ACTS = {
  ArrowDown: (stage) => rows(stage, 1),
  ArrowUp: (stage) => rows(stage, -1),
  PageDown: (stage) => rows(stage, PAGE),
  PageUp: (stage) => rows(stage, -PAGE),
  ArrowRight: (stage) => along(stage, 1),
  ArrowLeft: (stage) => along(stage, -1),
  ShiftArrowRight: (stage) => stage.pan(stage.width / 4),
  ShiftArrowLeft: (stage) => stage.pan(-stage.width / 4),
  Home: (stage) => edge(stage, 0),
  End: (stage) => edge(stage, -1),
  Enter: (stage) => stage.cursor && stage.tell("open", { spot: stage.cursor }),
  " ": (stage) => stage.cursor && stage.tell("pick", { spot: stage.cursor }),
  "+": (stage) => stage.zoom(0.5),
  "=": (stage) => stage.zoom(0.5),
  "-": (stage) => stage.zoom(2),
  n: (stage) => stage.tell("now"),
  Escape: (stage) => put(stage, null),
};

function put(stage, cursor) {
  stage.cursor = cursor;
  if (cursor?.row !== undefined) stage.reveal(cursor.row);
  stage.redraw();
  stage.tell("cursor", { spot: cursor });
}

/** Put the cursor where a person begins: on the newest span of the first row in sight. */
export function begin(stage) {
  if (stage.cursor !== null) return put(stage, stage.cursor);
  const row = Math.floor(stage.scroller.scrollTop / stage.scene.rowHeight);
  return toRow(stage, row, Infinity);
}

function middle(stage) {
  const { cursor, scene, view } = stage;
  if (cursor === null) return scene.now;
  if (cursor.mark !== undefined) return scene.marks[cursor.mark].append_ms;
  return (Math.max(cursor.item.from, view.from) + Math.min(cursor.item.to, view.to)) / 2;
}

function toRow(stage, index, time) {
  const row = stage.scene.rows[index];
  if (row === undefined) return;
  const items = stage.items(row);
  const item = items.find((each) => time >= each.from && time < each.to) ?? items.at(-1);
  if (item !== undefined) return put(stage, { row: index, item });
  put(stage, { row: index, item: { kind: "none", from: stage.view.from, to: stage.view.to } });
}

function rows(stage, step) {
  const { cursor, scene } = stage;
  if (cursor === null) return begin(stage);
  const time = middle(stage);
  if (cursor.mark !== undefined) return step > 0 ? toRow(stage, step - 1, time) : undefined;
  if (cursor.row + step < 0) return toMark(stage, time);
  return toRow(stage, Math.min(scene.rows.length - 1, cursor.row + step), time);
}

function toMark(stage, time) {
  const { marks } = stage.scene;
  const seen = marks.map((mark, i) => [i, Math.abs(mark.append_ms - time), mark.append_ms]);
  const near = seen.filter((each) => each[2] >= stage.view.from && each[2] <= stage.view.to);
  if (near.length === 0) return;
  put(stage, { mark: near.reduce((a, b) => (b[1] < a[1] ? b : a))[0] });
}

function along(stage, step) {
  const { cursor, scene } = stage;
  if (cursor === null) return begin(stage);
  if (cursor.mark !== undefined) {
    const mark = Math.min(scene.marks.length - 1, Math.max(0, cursor.mark + step));
    into(stage, scene.marks[mark].append_ms);
    return put(stage, { mark });
  }
  const items = stage.items(scene.rows[cursor.row]);
  const here = items.findIndex((each) => each.kind === cursor.item.kind && each.from === cursor.item.from);
  const next = items[here + step];
  if (next !== undefined) return put(stage, { row: cursor.row, item: next });
  stage.pan((step * stage.width) / 4);
  const later = stage.items(scene.rows[cursor.row]);
  const item = step > 0 ? later.at(-1) : later[0];
  if (item !== undefined) put(stage, { row: cursor.row, item });
}

function into(stage, time) {
  const { from, to } = stage.view;
  if (time >= from && time <= to) return;
  stage.move({ from: time - (to - from) / 2, to: time + (to - from) / 2, follows: false });
}

function edge(stage, which) {
  const { cursor, scene } = stage;
  if (cursor === null) return begin(stage);
  if (cursor.mark !== undefined) {
    return put(stage, { mark: which === 0 ? 0 : scene.marks.length - 1 });
  }
  const item = stage.items(scene.rows[cursor.row]).at(which);
  if (item !== undefined) put(stage, { row: cursor.row, item });
}
