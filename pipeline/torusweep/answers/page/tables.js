// Tables: sorted, searched and shown page by page. The rows of long tables are data, so that the page stays small
// and quick; only those of one page are elements.
const PAGE_SIZES = [25, 100, 500];
const SEARCHED_FROM = 10; // rows; fewer are read faster than searched
const count = (number) => number.toLocaleString("en");

async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return JSON.parse(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text());
}

function element(tag, own = {}, ...children) {
  const made = Object.assign(document.createElement(tag), own);
  made.append(...children); // strings become text, never HTML
  return made;
}

// a text whose long words may be broken at these places, and nowhere else: as `breakable` of charts/section.py
function breakable(text) {
  const pieces = text.split(/(?<=[_/])(?=[^\s)])|(?<=\w\()(?=[^\s)])|(?<=[=,])(?=[^\s\d)])/);
  return pieces.flatMap((piece, place) => (place ? [document.createElement("wbr"), piece] : [piece]));
}

// A cell is its text, or [text, style, value] where style and value do not follow from column and text.
const textOf = (cell) => (Array.isArray(cell) ? cell[0] : cell);

function numberOf(cell) {
  if (Array.isArray(cell)) return cell[2] ?? NaN;
  return cell === "" ? NaN : Number(cell.replaceAll(",", ""));
}

// saves a file that is named after the sweep, the section and the heading before the button
function save(button, kind, content) {
  const section = button.closest("section");
  const before = [...section.querySelectorAll("h3, h4, details > summary")].filter((one) => one.compareDocumentPosition(button) & Node.DOCUMENT_POSITION_FOLLOWING && (one.tagName !== "SUMMARY" || one.parentElement.contains(button)));
  const words = [document.title, section.id, before.at(-1)?.textContent ?? ""];
  const name = words.map((text) => text.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-").replaceAll(/^-|-$/g, "")).filter(Boolean).join("-");
  const href = URL.createObjectURL(content);
  element("a", { href, download: `${name.slice(0, 120)}.${kind}` }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60000);
}

function compared(numeric, p, q) {
  if (!numeric) return textOf(p).localeCompare(textOf(q), "en", { numeric: true });
  return numberOf(p) - numberOf(q);
}

class PagedTable {
  // fill: puts a cell's text into its element
  constructor(frame, fill = (cell, text) => cell.append(...withMeaning(text))) {
    this.table = frame.querySelector("table");
    this.headers = [...this.table.tHead.rows[0].cells];
    this.fill = fill;
    this.rows = [];
    this.sorted = null;
    this.page = 0;
    this.size = PAGE_SIZES[0];
    this.bar(frame);
    frame.querySelector("[data-save=csv]").addEventListener("click", (event) => save(event.target, "csv", new Blob([this.csv()], { type: "text/csv" })));
    this.headers.forEach((header, column) => {
      header.querySelector("button")?.addEventListener("click", () => this.sort(column));
    });
  }

  bar(frame) {
    this.search = element("input", { type: "search", placeholder: "Search", ariaLabel: "Search in this table" });
    this.said = element("output");
    this.earlier = element("button", { type: "button", textContent: "Previous" });
    this.later = element("button", { type: "button", textContent: "Next" });
    const sizes = PAGE_SIZES.map((size) => element("option", { value: size, textContent: `${size} rows a page` }));
    this.sizes = element("select", { ariaLabel: "Rows a page" }, ...sizes);
    this.tools = element("div", { className: "tools" }, this.search, this.said, this.earlier, this.later, this.sizes);
    frame.prepend(this.tools);
    this.search.addEventListener("input", () => { this.page = 0; this.show(); });
    this.earlier.addEventListener("click", () => { this.page--; this.show(); });
    this.later.addEventListener("click", () => { this.page++; this.show(); });
    this.sizes.addEventListener("change", () => { this.size = Number(this.sizes.value); this.page = 0; this.show(); });
  }

  // styles: the class of each column's cells
  set(rows, styles) {
    this.rows = rows;
    this.styles = styles;
    this.page = 0;
    this.tools.hidden = rows.length <= SEARCHED_FROM && !this.search.value;
    this.show();
  }

  sort(column) {
    const header = this.headers[column];
    const descending = header.getAttribute("aria-sort") === "ascending";
    for (const other of this.headers) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", descending ? "descending" : "ascending");
    this.sorted = { column, descending };
    this.page = 0;
    this.show();
  }

  unsort() {
    for (const header of this.headers) header.removeAttribute("aria-sort");
    this.sorted = null;
  }

  // the rows that have every word sought, in the order of the sorted column
  found() {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const has = (row) => {
      const text = row.map(textOf).join(" ").toLowerCase();
      return words.every((word) => text.includes(word));
    };
    const rows = words.length ? this.rows.filter(has) : [...this.rows];
    if (!this.sorted) return rows;
    const { column, descending } = this.sorted;
    const numeric = this.headers[column].classList.contains("number");
    const unknown = (row) => (numeric ? Number.isNaN(numberOf(row[column])) : textOf(row[column]) === "");
    // what is unknown stands last, whichever way
    return rows.sort((a, b) => unknown(a) - unknown(b) || (unknown(a) ? 0 : (descending ? -1 : 1) * compared(numeric, a[column], b[column])));
  }

  show() {
    const found = this.found();
    const first = this.page * this.size;
    const shown = found.slice(first, first + this.size);
    const paged = found.length > this.size || this.size > PAGE_SIZES[0];
    const within = found.length < this.rows.length ? ` found of ${count(this.rows.length)}` : "";
    this.said.textContent = shown.length ? `rows ${count(first + 1)} to ${count(first + shown.length)} of ${count(found.length)}${within}` : `no row found of ${count(this.rows.length)}`;
    for (const tool of [this.earlier, this.later, this.sizes]) tool.hidden = !paged;
    this.earlier.disabled = this.page === 0;
    this.later.disabled = first + this.size >= found.length;
    this.table.tBodies[0].replaceChildren(...shown.map((row) => this.line(row)));
  }

  // the rows found, as shown, in columns that are shown; numbers without separators, nothing for a dash
  csv() {
    const plain = (text) => (text === "–" ? "" : /^-?[\d,]+(\.\d+)?$/.test(text) ? text.replaceAll(",", "") : text);
    const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const shown = (cells) => cells.filter((_, column) => !this.headers[column].hidden);
    const lines = [this.headers.map((header) => header.textContent), ...this.found().map((row) => row.map((cell) => plain(textOf(cell))))];
    return lines.map((cells) => `${shown(cells).map(quoted).join(",")}\r\n`).join("");
  }

  line(row) {
    const line = document.createElement("tr");
    row.forEach((cell, column) => {
      const made = line.insertCell();
      made.className = Array.isArray(cell) ? cell[1] : this.styles[column];
      made.hidden = this.headers[column].hidden;
      this.fill(made, textOf(cell), row, column);
    });
    return line;
  }
}

// a short table's rows, from its elements
function rowsOf(table) {
  const valued = (cell) => (cell.dataset.value ? [cell.textContent, cell.className, Number(cell.dataset.value)] : [cell.textContent, cell.className]);
  return [...table.tBodies[0].rows].map((row) => [...row.cells].map(valued));
}

async function startTables() {
  for (const frame of document.querySelectorAll("div.table")) {
    const packed = frame.dataset.rows;
    const { rows, styles } = packed ? await unpacked(packed) : { rows: rowsOf(frame.querySelector("table")), styles: [] };
    frame.removeAttribute("data-rows");
    new PagedTable(frame).set(rows, styles);
  }
}

// --- meanings: words that the glossary explains -------------------------------------------------

const meanings = new Map([...document.querySelectorAll("#glossary dt")].map((term) => [term.textContent, term.nextElementSibling.textContent]));

// a text; if the glossary has its first word, with that meaning on pointing at it
function withMeaning(text) {
  const meaning = meanings.get(text.split("(", 1)[0]);
  return meaning ? [element("abbr", { title: meaning }, ...breakable(text))] : breakable(text);
}
