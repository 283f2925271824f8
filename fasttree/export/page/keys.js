// Search, keys and buttons, and how a page begins.

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
