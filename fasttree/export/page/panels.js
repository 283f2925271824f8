// What a page says beside the tree: of a node, and of a row and its path.

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
