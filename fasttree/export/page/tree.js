// The tree of a page: the content is what _content.py says, one entry per node.
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
