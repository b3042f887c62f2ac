const charts = JSON.parse(document.getElementById("charts").textContent);
let explorer = null;
const FILE = { width: 760, height: 420 }; // pixels of a chart that is saved
const MOST_ELEMENTS = 400; // rows of a chart whose marks are elements; of more, pixels
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

const requested = new Map(); // by element: the chart last requested
const drawing = new Map(); // by element: the chart being drawn, as a promise

// Draws a chart after the one that its element is drawing; null where a newer one was requested meanwhile.
// renderer: svg where marks are few enough for the page to hold each
async function embed(element, specification, { height, renderer = "svg" }) {
  requested.set(element, specification);
  await drawing.get(element);
  if (requested.get(element) !== specification) return null;
  const theme = dark.matches ? "dark" : "light";
  const sized = { ...specification, width: "container", height, autosize: { type: "fit", contains: "padding" } };
  const own = charts.themes[theme];
  const config = { ...own, legend: { ...own.legend, columns: legendColumns(specification, element.clientWidth) } };
  // ast: expressions are interpreted, not compiled, so that the page needs no permission to make code from text
  const drawn = vegaEmbed(element, sized, { mode: "vega-lite", renderer, actions: false, ast: true, config, tooltip: { theme } });
  drawing.set(element, drawn.catch(() => null));
  await drawn;
  return theme === (dark.matches ? "dark" : "light") ? drawn : embed(element, specification, { height, renderer });
}

// a chart as a file: with its heading, in the light theme on white, whatever the page has
async function saveChart(button) {
  const figure = button.closest("figure");
  const chart = figure.querySelector(".chart");
  const specification = charts.specifications[chart.id] ?? explorer.file();
  if (!specification) return;
  const [title, kind] = [figure.querySelector("h3, h4")?.textContent ?? specification.description.split(". ")[0], button.dataset.save];
  const config = { ...charts.themes.light, legend: { ...charts.themes.light.legend, columns: legendColumns(specification, FILE.width) }, background: "#ffffff" };
  const sized = { height: FILE.height, ...specification, width: FILE.width, title, padding: 16 };
  const { view, finalize } = await vegaEmbed(document.createElement("div"), sized, { mode: "vega-lite", renderer: "svg", actions: false, ast: true, config });
  if (kind === "svg") save(button, kind, new Blob([await view.toSVG()], { type: "image/svg+xml" }));
  else (await view.toCanvas(2)).toBlob((content) => save(button, kind, content));
  finalize();
}

const rowCount = ({ datasets = {} }) => Object.values(datasets).reduce((sum, rows) => sum + rows.length, 0);

function drawChart(id) {
  const [element, specification] = [document.getElementById(id), charts.specifications[id]];
  const height = specification.height ?? (element.parentElement.classList.contains("wide") ? 400 : 320);
  element.style.minHeight = `${height}px`; // no gap below a chart that needs less than the style sheet keeps free
  return embed(element, specification, { height, renderer: rowCount(specification) > MOST_ELEMENTS ? "canvas" : "svg" });
}

const turn = () => new Promise((resume) => { setTimeout(resume, 0); });

// one chart after the other, so that the page answers meanwhile; what is folded away has no width to draw in
async function drawCharts(within = document) {
  for (const element of within.querySelectorAll(".chart")) {
    if (!(element.id in charts.specifications) || element.closest("details:not([open])")) continue;
    await drawChart(element.id);
    await turn();
  }
}

function drawUnfolded(event) {
  if (event.target.open && !event.target.querySelector(".chart :is(svg, canvas)")) drawCharts(event.target);
}

async function start() {
  startAddress();
  document.addEventListener("click", ({ target }) => { if (target.matches("figure [data-save]")) saveChart(target); });
  document.addEventListener("toggle", drawUnfolded, true); // this event does not bubble
  dark.addEventListener("change", () => { explorer?.show(); drawCharts(); });
  await startExplorer();
  restore();
  await startTables();
  await drawCharts();
}

// what a reader sees first needs no script: it is painted before the first chart is drawn
requestAnimationFrame(() => setTimeout(start, 0));
