"use strict";
// Draws a tree and answers for it: the content is what _content.py says, one entry per node.
// Nodes are drawn when they are opened. Text of the user goes into the page as text only.
(() => {
const tree = JSON.parse(document.getElementById("content").textContent);
const SVG = "http://www.w3.org/2000/svg";
const BOX = { width: 152, height: 78, gapX: 12, gapY: 70 };
const FIRST_LEVELS = window.innerWidth < 760 ? 2 : 3, MAX_OPENED = 300, MAX_FOUND = 200;
const MIN_SCALE = 0.02, MAX_SCALE = 4, READABLE = 0.55;
const [OTHERS, NUMBERS, MISSING] = [-1, -2, -3];
const byId = (id) => document.getElementById(id);
const canvas = byId("canvas"), view = byId("view");

// ---- the tree

const nNodes = tree.left.length;
const parent = new Int32Array(nNodes).fill(-1), depth = new Int32Array(nNodes);
const order = []; // depth-first from the root: parents come before their children
for (const stack = [0]; stack.length;) {
  const node = stack.pop();
  order.push(node);
  for (const child of children(node).reverse()) {
    parent[child] = node;
    depth[child] = depth[node] + 1;
    stack.push(child);
  }
}
const classes = tree.outputs[0], isClassifier = classes !== null;
const weights = tree.weight || tree.rows;
const valueRange = isClassifier ? null : order.reduce(
  ([low, high], node) => [Math.min(low, tree.value[node][0]), Math.max(high, tree.value[node][0])],
  [Infinity, -Infinity]);

function isLeaf(node) { return tree.right[node] === 0; }
function children(node) { return isLeaf(node) ? [] : [tree.left[node], tree.right[node]]; }
function column(node) { return tree.columns[tree.feature[node]]; }
function side(node) { return node === tree.left[parent[node]]; }

// Weights of the classes of an output at a node, heaviest first: [[class, weight], ...]
function classWeights(node, output) {
  const flat = tree.value[node][output], found = [];
  for (let i = 0; i < flat.length; i += 2) found.push([flat[i], flat[i + 1]]);
  return found.sort((a, b) => b[1] - a[1] || a[0] - b[0]);
}

function prediction(node, output = 0) {
  if (tree.outputs[output] === null) return short(tree.value[node][output]);
  const heaviest = classWeights(node, output)[0];
  return tree.outputs[output][heaviest ? heaviest[0] : 0];
}

// What is true of the rows that come from a node's parent to it.
function fact(node) {
  const words = side(node) ? tree.yes : tree.no;
  return `${column(parent[node]).name} ${words[parent[node]]}`;
}

function question(node) { return `${column(node).name} ${tree.yes[node]}?`; }

function pathTo(node) {
  const path = [];
  for (; node >= 0; node = parent[node]) path.push(node);
  return path.reverse();
}

// ---- rows: a cell is a number, [category] or null for a missing value, as in the content

// What a text typed for a column means. Numbers are rounded to float32, as predict does.
function cellOf(text, of) {
  if (text === "") return null;
  const label = of.labels.indexOf(text);
  const isNumber = /^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$/.test(text);
  if (of.kind === "category" || !isNumber) {
    if (of.kind === "number") return undefined;
    const same = label < 0 && isNumber ? of.labels.findIndex((l) => l !== "" && +l === +text) : label;
    return [same];
  }
  const number = Math.fround(+text);
  return Number.isFinite(number) ? number : undefined;
}

function textOf(cell, of) {
  if (cell === null) return "";
  return Array.isArray(cell) ? of.labels[cell[0]] ?? "" : String(cell);
}

function goesLeft(node, cell) {
  const list = tree.lists[node], isLabel = Array.isArray(cell);
  if (list === undefined) {
    if (cell === null || isLabel) return tree.missing_left[node] === 1;
    return Math.fround(cell) <= tree.threshold[node];
  }
  if (cell === null) return tree.missing_left[node] === 1;
  if (!isLabel) return false;
  return list.indexOf(cell[0], 1) > 0 === (list[0] === 1);
}

function pathOf(row) {
  const path = [0];
  for (let node = 0; !isLeaf(node);) {
    node = goesLeft(node, row[tree.feature[node]]) ? tree.left[node] : tree.right[node];
    path.push(node);
  }
  return path;
}

// ---- words, numbers, colours

function short(number) {
  if (Number.isInteger(number)) return number.toLocaleString("en");
  return String(+number.toPrecision(4));
}
function percent(share) { return `${+(100 * share).toPrecision(3)} %`; }
function plural(n, word, many = `${word}s`) { return `${short(n)} ${n === 1 ? word : many}`; }
function clipped(text, n) { return text.length > n ? `${text.slice(0, n - 1)}…` : text; }

function classColour(k) {
  if (classes.length <= tree.palette.length) return tree.palette[k];
  return `hsl(${Math.round((360 * k) / classes.length + 210) % 360} 55% ${k % 2 ? 45 : 58}%)`;
}
// From blue by grey to orange: low, middle and high values of a quantity.
function valueColour(value) {
  const [low, high] = valueRange, t = high > low ? (value - low) / (high - low) : 0.5;
  const s = Math.min(1, Math.max(0, t)), ends = s < 0.5 ? "#3b7dd8" : "#e08a1e";
  return `color-mix(in srgb, ${ends} ${Math.round(200 * Math.abs(s - 0.5))}%, #9aa3ad)`;
}

// ---- elements

function make(parentElement, name, attributes = {}, text) {
  const inSvg = parentElement.namespaceURI === SVG || name === "svg";
  const element = inSvg ? document.createElementNS(SVG, name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "style") element.style.cssText = value;
    else element.setAttribute(key, value);
  }
  if (text !== undefined) element.textContent = text;
  parentElement.append(element);
  return element;
}

function button(parentElement, text, action, attributes = { class: "link-button" }) {
  const element = make(parentElement, "button", { type: "button", ...attributes }, text);
  element.addEventListener("click", action);
  return element;
}

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

// ---- panels

function showPanel(name) {
  for (const other of ["node", "row", "found"]) {
    byId(`panel-${other}`).hidden = other !== name;
    byId(`tab-${other}`).setAttribute("aria-selected", other === name);
  }
}
for (const name of ["node", "row", "found"]) {
  byId(`tab-${name}`).addEventListener("click", () => showPanel(name));
}

function entry(table, name, value) {
  const line = make(table, "tr");
  make(line, "th", { scope: "row" }, name);
  return make(line, "td", {}, value);
}

function showNode(node) {
  const panel = byId("panel-node");
  panel.replaceChildren();
  make(panel, "h2", {}, isLeaf(node) ? `Predicts ${prediction(node)}` : question(node));
  const table = make(panel, "table");
  entry(table, "node", `#${node}, ${isLeaf(node) ? "a leaf" : "inner"}, depth ${depth[node]}`);
  entry(table, "rows", `${short(tree.rows[node])} (${percent(tree.rows[node] / tree.rows[0])} of all)`);
  if (tree.weight) entry(table, "weight", short(tree.weight[node]));
  entry(table, tree.criterion, String(tree.impurity[node]));
  if (!isLeaf(node)) {
    if (tree.threshold[node] !== null) entry(table, "threshold", String(tree.threshold[node]));
    entry(table, "yes, to", `#${tree.left[node]}, ${plural(tree.rows[tree.left[node]], "row")}`);
    entry(table, "no, to", `#${tree.right[node]}, ${plural(tree.rows[tree.right[node]], "row")}`);
    if (tree.columns[tree.feature[node]].kind !== "number" || tree.yes[node].includes("missing")) {
      entry(table, "if missing", tree.missing_left[node] ? "yes" : "no");
    }
  }
  tree.outputs.forEach((names, output) => showPrediction(panel, node, output));
  if (tree.histogram && tree.histogram[node]) showHistogram(panel, node);
  if (tree.target) showTarget(panel, node);
  if (node > 0) {
    make(panel, "h3", {}, "Rows that come here");
    const list = make(panel, "ol");
    for (const step of pathTo(node).slice(1)) {
      button(make(list, "li"), fact(step), () => select(parent[step]));
    }
  }
  if (!isLeaf(node)) {
    const more = make(panel, "p", { style: "margin-top:12px" });
    button(more, "Open all below", () => { openBelow(node); select(node); }, {});
  }
}

function showPrediction(panel, node, output) {
  const names = tree.outputs[output], many = tree.outputs.length > 1;
  make(panel, "h3", {}, `${names ? "Classes" : "Value"}${many ? `, output ${output}` : ""}`);
  if (!names) {
    make(panel, "p", { class: "outcome" }, String(tree.value[node][output]));
    return;
  }
  const found = classWeights(node, output), total = found.reduce((sum, [, w]) => sum + w, 0);
  const table = make(panel, "table");
  for (const [k, weight] of found) {
    const line = make(table, "tr"), name = make(line, "td");
    if (!output) make(name, "span", { class: "swatch", style: `background:${classColour(k)}` });
    name.append(names[k]);
    const strip = make(make(line, "td", { style: "width:35%" }), "div", { class: "strip" });
    make(strip, "i", { style: `width:${(100 * weight) / total}%;background:${output ? "var(--bar)" : classColour(k)}` });
    make(line, "td", { class: "number" }, percent(weight / total));
    make(line, "td", { class: "number" }, short(weight));
  }
}

// Bars from their flat list: [{total, parts: [[colour, count], ...]}, ...]
function bars(flat, n) {
  const found = Array.from({ length: n }, () => ({ total: 0, parts: [] }));
  const perBar = isClassifier && tree.outputs.length === 1 ? classes.length : 1;
  const step = tree.target ? 3 : 2;
  for (let i = 0; i < flat.length; i += step) {
    const count = flat[i + 1];
    const bar = found[tree.target ? flat[i] : Math.floor(flat[i] / perBar)];
    const colour = tree.target ? valueColour(flat[i + 2]) : colourOfPart(flat[i] % perBar, perBar);
    bar.total += count;
    bar.parts.push([colour, count]);
  }
  return found;
}
// Without y the counts stand under the first class and have no colour of their own.
function colourOfPart(k, perBar) { return tree.has_y && perBar > 1 ? classColour(k) : "var(--bar)"; }

function showHistogram(panel, node) {
  const found = tree.histogram[node];
  make(panel, "h3", {}, `${column(node).name} of the rows that come here`);
  if (Array.isArray(found[0])) showCategories(panel, node, ...found);
  else showNumbers(panel, node, ...found);
}

function plotBars(panel, label, heights, n, left) {
  const width = 300, height = 128, base = 104, top = 6;
  const plot = make(panel, "svg", { class: "plot", viewBox: `0 0 ${width} ${height}`, role: "img" });
  plot.setAttribute("aria-label", label);
  const most = Math.max(1, ...heights.map((bar) => bar.total)), step = width / n;
  if (left) make(plot, "rect", { class: "yes", x: 0, y: 0, width: left * step, height: base });
  heights.forEach((bar, i) => {
    let y = base;
    for (const [colour, count] of bar.parts) {
      const part = ((base - top) * count) / most;
      y -= part;
      make(plot, "rect", { x: i * step + 0.5, y, width: Math.max(1, step - 1), height: part, style: `fill:${colour}` });
    }
  });
  make(plot, "line", { class: "axis", x1: 0, x2: width, y1: base, y2: base });
  return { plot, step, base };
}

function showNumbers(panel, node, start, width, nLeft, n, flat, flatRest) {
  const heights = bars(flat, n), label = `Histogram of ${column(node).name}, with the threshold`;
  const { plot, step, base } = plotBars(panel, label, heights, n, nLeft);
  const x = nLeft * step, nearEnd = x > 230 ? "end" : x < 70 ? "start" : "middle";
  make(plot, "line", { class: "border", x1: x, x2: x, y1: 0, y2: base });
  if (x > 70) make(plot, "text", { x: 0, y: base + 14 }, short(start));
  if (x < 230) make(plot, "text", { x: 300, y: base + 14, "text-anchor": "end" }, short(start + n * width));
  make(plot, "text", { x, y: base + 14, "text-anchor": nearEnd }, short(tree.threshold[node]));
  const rest = bars(flatRest, 1)[0].total;
  const where = tree.missing_left[node] ? "yes" : "no";
  if (rest) make(panel, "p", { class: "note" }, `${plural(rest, "row")} without a number: ${where}`);
}

function showCategories(panel, node, shown, sides, flat) {
  const of = column(node), table = make(panel, "table");
  const named = { [OTHERS]: "other categories", [NUMBERS]: "numbers", [MISSING]: "missing" };
  const heights = bars(flat, shown.length), most = Math.max(...heights.map((bar) => bar.total));
  shown.forEach((what, i) => {
    const line = make(table, "tr");
    make(line, "td", { style: "max-width:140px" }, what < 0 ? named[what] : of.labels[what]);
    const strip = make(make(line, "td", { style: "width:32%" }), "div", { class: "strip" });
    for (const [colour, count] of heights[i].parts) {
      make(strip, "i", { style: `width:${(100 * count) / most}%;background:${colour}` });
    }
    make(line, "td", { class: "number" }, short(heights[i].total));
    make(line, "td", { class: "number" }, sides[i] ? "yes" : "no");
  });
}

function showTarget(panel, node) {
  const [start, width, n] = tree.target_bars, flat = tree.target[node];
  const heights = Array.from({ length: n }, () => ({ total: 0, parts: [] }));
  for (let i = 0; i < flat.length; i += 2) {
    const middle = start + (flat[i] + 0.5) * width;
    heights[flat[i]] = { total: flat[i + 1], parts: [[valueColour(middle), flat[i + 1]]] };
  }
  make(panel, "h3", {}, "Target of the rows that come here");
  const { plot, base } = plotBars(panel, "Histogram of the target", heights, n, 0);
  make(plot, "text", { x: 0, y: base + 14 }, short(start));
  make(plot, "text", { x: 300, y: base + 14, "text-anchor": "end" }, short(start + n * width));
}

// ---- a row and its path

const row = tree.columns.map((of) => (of.typical === undefined ? null : of.typical));
const typed = new Map(); // texts of columns that are no number, to be shown as they are

function makeRowPanel() {
  const panel = byId("panel-row");
  const picker = make(panel, "div", { class: "row-picker" });
  if (tree.given_rows && tree.given_rows.length) {
    const label = make(picker, "label", {}, "Row ");
    const last = tree.given_rows.length - 1;
    const input = make(label, "input", { id: "pick", type: "number", min: 0, max: last });
    make(picker, "span", { class: "note" }, `0 to ${last}`);
    input.addEventListener("input", () => pickRow(input.value));
  }
  button(picker, "Clear", () => { row.fill(null); typed.clear(); showRow(); }, {});
  make(panel, "p", { class: "note" },
    tree.histogram ? "Starts with each column's median or most frequent category. Type other values; an empty field is a missing value."
      : "Type the values of a row; an empty field is a missing value.");
  make(panel, "ol", { id: "steps" });
  make(panel, "p", { class: "outcome", id: "outcome", "aria-live": "polite" });
  for (let j = 0; j < tree.columns.length; j++) {
    if (tree.columns[j].kind === "number") continue;
    const list = make(panel, "datalist", { id: `labels-${j}` });
    tree.columns[j].labels.slice(0, 500).forEach((label) => make(list, "option", { value: label }));
  }
}

function pickRow(text) {
  const given = tree.given_rows[text === "" ? -1 : +text];
  if (given === undefined) return;
  given.forEach((cell, j) => { row[j] = cell; });
  typed.clear();
  showRow();
}

// Lights the path of the row and lists its steps. A field that is being typed in stays.
function showRow() {
  const path = pathOf(row), steps = byId("steps"), focused = document.activeElement;
  const kept = steps.contains(focused) && focused.tagName === "INPUT" ? focused : null;
  const lines = path.slice(0, -1).map((node, i) => stepLine(node, path[i + 1], path.slice(0, i), kept));
  steps.replaceChildren(...lines);
  if (kept && steps.contains(kept)) kept.focus();
  const leaf = path[path.length - 1];
  const shares = isClassifier && tree.outputs.length === 1 ? `, ${leafWords(leaf)}` : "";
  const words = tree.outputs.map((_, output) => prediction(leaf, output)).join(", ");
  byId("outcome").textContent = `Predicted: ${words}${shares}`;
  selected = leaf;
  light(path);
  bringIntoView(leaf);
  showNode(leaf);
}

function stepLine(node, next, before, kept) {
  const line = document.createElement("li"), j = tree.feature[node], of = tree.columns[j];
  line.className = "step";
  if (before.every((other) => tree.feature[other] !== j)) {
    const label = make(line, "label", {}, of.name);
    label.append(kept && kept.dataset.column === String(j) ? kept : fieldOf(j));
  }
  const value = typed.get(j) || textOf(row[j], of) || "missing";
  const asked = make(line, "div", { class: "why" });
  asked.append(`${clipped(value, 40)}: ${question(node)} `);
  make(asked, "span", { class: "answer" }, side(next) ? "yes" : "no");
  return line;
}

function fieldOf(j) {
  const of = tree.columns[j], field = document.createElement("input");
  field.type = "text";
  field.dataset.column = j;
  field.value = typed.get(j) || textOf(row[j], of);
  if (of.kind !== "number") field.setAttribute("list", `labels-${j}`);
  field.addEventListener("input", () => {
    const cell = cellOf(field.value, of);
    field.setCustomValidity(cell === undefined ? "A number is expected" : "");
    field.reportValidity();
    if (cell === undefined) return;
    row[j] = cell;
    typed.delete(j);
    if (Array.isArray(cell) && cell[0] < 0) typed.set(j, field.value);
    showRow();
  });
  return field;
}
byId("tab-row").addEventListener("click", showRow);

// ---- search

function search(text) {
  const words = text.trim().toLowerCase().replace("<=", "≤"), panel = byId("panel-found");
  panel.replaceChildren();
  showPanel("found");
  if (words === "") return [];
  const isNumber = /^#\d+$/.test(words);
  const found = isNumber ? [+words.slice(1)].filter((node) => node < nNodes)
    : order.filter((node) => (isLeaf(node) ? prediction(node) : question(node)).toLowerCase().includes(words));
  make(panel, "p", {}, found.length ? plural(found.length, "node") : "Nothing found");
  const list = make(panel, "ol");
  for (const node of found.slice(0, MAX_FOUND)) {
    const what = isLeaf(node) ? `Predicts ${prediction(node)}` : question(node);
    const line = make(list, "li");
    button(line, `#${node} ${what}`, () => select(node, false));
    make(line, "div", { class: "why" }, `${plural(tree.rows[node], "row")}, depth ${depth[node]}`);
  }
  if (found.length > MAX_FOUND) make(panel, "p", { class: "note" }, `The first ${MAX_FOUND} are listed.`);
  return found;
}
byId("search").addEventListener("submit", (event) => {
  event.preventDefault();
  const found = search(byId("query").value);
  if (found.length) select(found[0], false);
});
byId("query").addEventListener("input", () => search(byId("query").value));

// ---- keys and buttons

function neighbour(step) {
  const level = visible().filter((node) => depth[node] === depth[selected]);
  return level[level.indexOf(selected) + step] ?? selected;
}

const KEYS = {
  ArrowUp: () => select(Math.max(0, parent[selected])),
  ArrowDown: () => {
    if (isLeaf(selected)) return;
    open.add(selected);
    select(tree.left[selected]);
  },
  ArrowLeft: () => select(neighbour(-1)),
  ArrowRight: () => select(neighbour(1)),
  Enter: () => { toggle(selected); select(selected); },
  " ": () => KEYS.Enter(),
  Home: () => select(0),
  "*": () => { openBelow(selected); select(selected); },
  "+": () => zoom(1.25),
  "-": () => zoom(0.8),
  "0": () => fit(true),
};
canvas.addEventListener("keydown", (event) => {
  if (!KEYS[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  KEYS[event.key]();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && event.target.tagName !== "INPUT") {
    event.preventDefault();
    byId("query").focus();
  }
});
byId("zoom-in").addEventListener("click", () => zoom(1.25));
byId("zoom-out").addEventListener("click", () => zoom(0.8));
byId("fit").addEventListener("click", () => fit(true));
byId("open-level").addEventListener("click", openLevel);
byId("close-all").addEventListener("click", () => { open.clear(); lit = []; select(0); fit(); });
byId("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const isDark = (root.style.colorScheme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  root.style.colorScheme = isDark ? "light" : "dark";
});

// ---- start

byId("summary").textContent = [
  plural(nNodes, "node"), plural(order.filter(isLeaf).length, "leaf", "leaves"),
  `depth ${depth.reduce((a, b) => Math.max(a, b), 0)}`, plural(tree.rows[0], "row"),
  isClassifier ? plural(classes.length, "class", "classes") : "regression",
].join(" · ");
order.filter((node) => depth[node] < FIRST_LEVELS && !isLeaf(node)).forEach((node) => open.add(node));
makeRowPanel();
draw();
fit();
showNode(0);
showPanel("node");
new ResizeObserver(() => fit()).observe(canvas); // also when a frame gets its size late
})();
