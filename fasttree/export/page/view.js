// Draws the tree: nodes when they are opened. Text of the user goes into the page as text only.

// ---- drawing

const open = new Set(), drawn = new Map();
let selected = 0, lit = [], openedForPath = [], position = new Map();

function visible() {
  const found = [];
  for (const stack = [0]; stack.length;) {
    const node = stack.pop();
    found.push(node);
    if (open.has(node)) stack.push(tree.right[node], tree.left[node]);
  }
  return found;
}

// Closed nodes and leaves stand side by side, a parent above the middle of its children.
function layOut(nodes) {
  position = new Map();
  let slot = 0;
  for (const node of nodes) {
    if (!open.has(node)) position.set(node, [slot++, depth[node]]);
  }
  for (const node of [...nodes].reverse()) {
    if (open.has(node)) {
      const x = (position.get(tree.left[node])[0] + position.get(tree.right[node])[0]) / 2;
      position.set(node, [x, depth[node]]);
    }
  }
  for (const [node, [x, y]] of position) {
    position.set(node, [x * (BOX.width + BOX.gapX), y * (BOX.height + BOX.gapY)]);
  }
}

function draw() {
  const nodes = visible();
  layOut(nodes);
  const shown = new Set(nodes);
  for (const [node, elements] of drawn) {
    if (!shown.has(node)) {
      Object.values(elements).forEach((element) => element.remove());
      drawn.delete(node);
    }
  }
  const on = new Set(lit);
  for (const node of nodes) {
    if (!drawn.has(node)) drawn.set(node, drawNode(node));
    place(node, drawn.get(node), on);
  }
  canvas.setAttribute("aria-activedescendant", `node-${selected}`);
}

function drawNode(node) {
  const box = make(byId("nodes"), "g", { id: `node-${node}`, "data-node": node, role: "treeitem" });
  box.setAttribute("class", isLeaf(node) ? "node leaf" : "node");
  box.setAttribute("aria-level", depth[node] + 1);
  const words = isLeaf(node) ? `${prediction(node)}` : question(node);
  box.setAttribute("aria-label", `${words} ${plural(tree.rows[node], "row")}`);
  make(box, "title", {}, words);
  make(box, "rect", { class: "box", width: BOX.width, height: BOX.height, rx: 6 });
  const name = isLeaf(node) ? prediction(node) : column(node).name;
  make(box, "text", { class: "name", x: 10, y: 20 }, clipped(name, 19));
  make(box, "text", { x: 10, y: 37 }, clipped(isLeaf(node) ? leafWords(node) : tree.yes[node], 19));
  const figure = isClassifier ? `${tree.criterion} ${+tree.impurity[node].toPrecision(2)}` : `mean ${prediction(node)}`;
  make(box, "text", { class: "small", x: 10, y: 53 }, clipped(`${plural(tree.rows[node], "row")} · ${figure}`, 25));
  drawShares(box, node);
  const elements = { box };
  if (!isLeaf(node)) {
    make(box, "circle", { class: "more", cx: BOX.width / 2, cy: BOX.height, r: 8 });
    elements.sign = make(box, "text", { class: "sign", x: BOX.width / 2, y: BOX.height + 4 });
  }
  if (node > 0) {
    elements.link = make(byId("links"), "path");
    elements.branch = make(byId("links"), "text", {}, side(node) ? "yes" : "no");
  }
  return elements;
}

function leafWords(node) {
  if (!isClassifier) return tree.outputs.length > 1 ? `${tree.outputs.length} outputs` : "predicted";
  const found = classWeights(node, 0), total = found.reduce((sum, [, w]) => sum + w, 0);
  return `${percent((found[0] || [0, 0])[1] / total)} of its rows`;
}

function drawShares(box, node) {
  const width = BOX.width - 20, y = BOX.height - 17;
  make(box, "rect", { class: "track", x: 10, y, width, height: 6 });
  if (!isClassifier) {
    const [low, high] = valueRange, value = tree.value[node][0];
    const x = 10 + (high > low ? ((value - low) / (high - low)) * (width - 6) : 0);
    make(box, "rect", { x, y: y - 2, width: 6, height: 10, rx: 2, style: `fill:${valueColour(value)}` });
    return;
  }
  const found = classWeights(node, 0).sort((a, b) => a[0] - b[0]);
  const total = found.reduce((sum, [, w]) => sum + w, 0);
  let x = 10;
  for (const [k, weight] of found) {
    const share = (width * weight) / total;
    make(box, "rect", { x, y, width: share, height: 6, style: `fill:${classColour(k)}` });
    x += share;
  }
}

function place(node, { box, sign, link, branch }, on) {
  const [x, y] = position.get(node), isOn = on.has(node);
  box.style.transform = `translate(${x}px,${y}px)`;
  box.classList.toggle("selected", node === selected);
  box.classList.toggle("on", isOn);
  box.setAttribute("aria-selected", node === selected);
  if (sign) {
    sign.textContent = open.has(node) ? "−" : "+";
    box.setAttribute("aria-expanded", open.has(node));
  }
  if (!link) return;
  const [px, py] = position.get(parent[node]), half = BOX.width / 2;
  const from = py + BOX.height, middle = (from + y) / 2;
  link.setAttribute("d", `M${px + half},${from}C${px + half},${middle} ${x + half},${middle} ${x + half},${y}`);
  link.setAttribute("class", isOn ? "link on" : "link");
  link.style.strokeWidth = 1.2 + 9 * (tree.rows[node] / tree.rows[0]);
  branch.style.transform = `translate(${(x + px) / 2 + half + (x - px) * 0.22}px,${middle + 14}px)`;
  branch.setAttribute("class", isOn ? "branch on" : "branch");
}

// ---- view

let scale = 1, shift = [0, 0];

function showView() {
  view.setAttribute("transform", `translate(${shift[0]},${shift[1]}) scale(${scale})`);
}

function zoom(factor, at = [canvas.clientWidth / 2, canvas.clientHeight / 2]) {
  const next = Math.min(MAX_SCALE, Math.max(MIN_SCALE, scale * factor));
  shift = shift.map((s, i) => at[i] - ((at[i] - s) * next) / scale);
  scale = next;
  showView();
}

// Shows the whole open tree, or if that is too small to read, a node with what is around it.
function fit(mustFit = false) {
  const xs = [...position.values()].map(([x]) => x), ys = [...position.values()].map(([, y]) => y);
  const low = Math.min(...xs), width = Math.max(...xs) - low + BOX.width;
  const height = Math.max(...ys) + BOX.height, pad = 24;
  const whole = Math.min((canvas.clientWidth - 2 * pad) / width, (canvas.clientHeight - 2 * pad) / height);
  scale = Math.min(1.15, Math.max(mustFit ? MIN_SCALE : READABLE, whole));
  shift = [canvas.clientWidth / 2 - scale * (low + width / 2), pad];
  if (scale > whole && !mustFit) {
    shift[0] = canvas.clientWidth / 2 - scale * (position.get(0)[0] + BOX.width / 2);
  }
  showView();
}

function bringIntoView(node) {
  const [x, y] = position.get(node).map((v, i) => v * scale + shift[i]);
  const size = [canvas.clientWidth, canvas.clientHeight], box = [BOX.width * scale, BOX.height * scale];
  [x, y].forEach((at, i) => {
    if (at < 10 || at + box[i] > size[i] - 10) shift[i] += size[i] / 2 - at - box[i] / 2;
  });
  showView();
}

const pointers = new Map();
let wasDragged = false;

function onPointerMove(event) {
  if (!pointers.has(event.pointerId)) return;
  const before = [...pointers.values()];
  const [x, y] = pointers.get(event.pointerId);
  pointers.set(event.pointerId, [event.clientX, event.clientY]);
  const after = [...pointers.values()];
  if (after.length === 1) {
    if (!wasDragged && Math.hypot(event.clientX - x, event.clientY - y) < 4) {
      pointers.set(event.pointerId, [x, y]);
      return;
    }
    wasDragged = true;
    canvas.classList.add("dragged");
    canvas.setPointerCapture(event.pointerId);
    shift = [shift[0] + event.clientX - x, shift[1] + event.clientY - y];
    showView();
  } else {
    wasDragged = true;
    const spread = ([a, b]) => Math.hypot(a[0] - b[0], a[1] - b[1]) || 1;
    const corner = canvas.getBoundingClientRect();
    const middle = [(after[0][0] + after[1][0]) / 2 - corner.left, (after[0][1] + after[1][1]) / 2 - corner.top];
    zoom(spread(after) / spread(before), middle);
  }
}

function onPointerUp(event) {
  pointers.delete(event.pointerId);
  canvas.classList.remove("dragged");
}

canvas.addEventListener("pointerdown", (event) => {
  if (!pointers.size) wasDragged = false;
  pointers.set(event.pointerId, [event.clientX, event.clientY]);
});
canvas.addEventListener("pointermove", onPointerMove);
for (const end of ["pointerup", "pointercancel"]) window.addEventListener(end, onPointerUp);
canvas.addEventListener("wheel", (event) => {
  // Inside another page the wheel scrolls that page, unless Ctrl is held (a pinch counts as that).
  if (window.parent !== window && !event.ctrlKey) return;
  event.preventDefault();
  zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0015)), [event.offsetX, event.offsetY]);
}, { passive: false });
canvas.addEventListener("click", (event) => {
  const box = event.target.closest("[data-node]");
  if (!box || wasDragged) return;
  const node = +box.dataset.node;
  if (event.shiftKey) openBelow(node);
  else toggle(node);
  select(node);
});

// ---- opening and choosing

function toggle(node) {
  if (isLeaf(node)) return;
  if (open.has(node)) open.delete(node);
  else open.add(node);
}

// Opens a node and what is below it, level by level, as long as that is not too much to draw.
function openBelow(node) {
  const queue = [node];
  for (let i = 0; i < queue.length && i < MAX_OPENED; i++) {
    if (!isLeaf(queue[i])) open.add(queue[i]);
    queue.push(...children(queue[i]));
  }
}

function openLevel() {
  const closed = visible().filter((node) => !isLeaf(node) && !open.has(node));
  const level = Math.min(...closed.map((node) => depth[node]));
  closed.filter((node) => depth[node] === level).slice(0, MAX_OPENED).forEach((node) => open.add(node));
  draw();
  fit();
}

function select(node, panel = true) {
  selected = node;
  pathTo(node).slice(0, -1).forEach((above) => open.add(above));
  draw();
  bringIntoView(node);
  showNode(node);
  if (panel) showPanel("node");
}

// Nodes that were opened for a path close when the next one is lit.
function light(path) {
  openedForPath.forEach((node) => open.delete(node));
  openedForPath = path.slice(0, -1).filter((node) => !open.has(node));
  openedForPath.forEach((node) => open.add(node));
  lit = path;
  draw();
}
