const charts = JSON.parse(document.getElementById("charts").textContent);
let explorer = null;
const dark = window.matchMedia("(prefers-color-scheme: dark)");

// what a chart's legend names: the values that its colours stand for
function legendNames({ encoding, layer = [] }) {
  const own = encoding?.color?.scale?.domain;
  return Array.isArray(own) ? own : layer.map(legendNames).find((names) => names.length) ?? [];
}

// how many of them have room side by side; 0: all
function legendColumns(specification, width) {
  const names = legendNames(specification).map(String);
  const room = width - 60; // beside the labels of the axis
  const each = 30 + 6.5 * Math.max(0, ...names.map((name) => name.length));
  return each * names.length > room ? Math.max(1, Math.floor(room / each)) : 0;
}

// renderer: svg where marks are few enough for the page to hold each
function embed(element, specification, { height, renderer = "svg" }) {
  const theme = dark.matches ? "dark" : "light";
  const sized = { ...specification, width: "container", height, autosize: { type: "fit", contains: "padding" } };
  const own = charts.themes[theme];
  const config = { ...own, legend: { ...own.legend, columns: legendColumns(specification, element.clientWidth) } };
  // ast: expressions are interpreted, not compiled, so that the page needs no permission to make code from text
  return vegaEmbed(element, sized, { mode: "vega-lite", renderer, actions: false, ast: true, config, tooltip: { theme } });
}

function draw() {
  for (const [id, specification] of Object.entries(charts.specifications)) {
    const element = document.getElementById(id);
    const height = specification.height ?? (element.parentElement.classList.contains("wide") ? 400 : 320);
    element.style.minHeight = `${height}px`; // no gap below a chart that needs less than the style sheet keeps free
    embed(element, specification, { height });
  }
  explorer?.show();
}

function sortBy(header, column) {
  const table = header.closest("table");
  const descending = header.getAttribute("aria-sort") === "ascending";
  for (const other of table.querySelectorAll("th")) other.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", descending ? "descending" : "ascending");
  const key = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent;
  const numeric = header.classList.contains("number");
  const rows = [...table.tBodies[0].rows].sort((a, b) => {
    const [p, q] = [key(a), key(b)];
    if (p === "" || q === "") return (p === "") - (q === ""); // what is unknown stands last, whichever way
    return (descending ? -1 : 1) * (numeric ? Number(p) - Number(q) : p.localeCompare(q, "en", { numeric: true }));
  });
  table.tBodies[0].append(...rows);
}

for (const table of document.querySelectorAll("table.sortable")) {
  [...table.tHead.rows[0].cells].forEach((header, column) => {
    header.querySelector("button")?.addEventListener("click", () => sortBy(header, column));
  });
}
draw();
explore();
dark.addEventListener("change", draw);
