// The explorer: two quantities of all designs in a chart, and the designs shown in a table.
const AXES = ["x", "y"];
const ALIKE = 2; // sizes within this factor are compared on a front
const part = (name) => document.getElementById(`explorer-${name}`);
const written = (value) => (Number.isInteger(value) ? value.toLocaleString("en") : String(Number(value.toPrecision(6))));
const designsIn = (count) => `${written(count)} design${count === 1 ? "" : "s"}`;
const titled = (quantity) => quantity.name.replaceAll("_", " ") + (quantity.unit && quantity.unit !== quantity.name ? `, ${quantity.unit}` : "");
const named = (quantity) => `${quantity.table}.${quantity.name}`;

// where a logarithmic axis is labelled: at powers of ten, and at 2 and 5 times these where there is room; values of about
// one size, at even steps
function marked(values) {
  const [least, most] = values.reduce(([a, b], value) => [Math.min(a, value), Math.max(b, value)], [Infinity, 0]);
  if (least === most) return [least];
  const found = [];
  if (most < 8 * least) {
    const rough = (most - least) / 5, power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
    for (let count = Math.ceil(least / step); count * step <= most; count++) found.push(Number((count * step).toPrecision(6)));
    return found;
  }
  const steps = most / least > 2000 ? [1] : [1, 2, 5];
  for (let power = Math.floor(Math.log10(least)); 10 ** power <= most; power++) found.push(...steps.map((step) => step * 10 ** power));
  return found;
}

// what a shell takes as one word
function quoted(spelling) {
  return /["$`\\!]/.test(spelling) ? `'${spelling.replaceAll("'", "'\\''")}'` : `"${spelling}"`;
}

// the points that none beats in both, with those equal to them; better: -1 where larger is better, 1 where smaller is
function frontOf(points, better) {
  const [bx, by] = [better.x, better.y];
  const ordered = [...points].sort((p, q) => bx * (p.x - q.x) || by * (p.y - q.y));
  const front = [];
  for (const point of ordered) {
    const last = front[front.length - 1];
    if (!last || by * (point.y - last.y) < 0 || (point.x === last.x && point.y === last.y)) front.push(point);
  }
  return front;
}

// windows of sizes around the powers of two, each with the number of designs in it
function windowsOf(nodes) {
  const windows = new Map();
  for (const size of nodes) {
    const about = 2 ** Math.round(Math.log2(size));
    const own = windows.get(about) ?? { about, from: size, to: size, designs: 0 };
    windows.set(about, { about, from: Math.min(own.from, size), to: Math.max(own.to, size), designs: own.designs + 1 });
  }
  return [...windows.values()].sort((a, b) => a.about - b.about);
}

class Explorer {
  constructor(data, specification) {
    this.data = data;
    this.specification = specification;
    this.chosen = new Set(); // groups; none: all are shown
    this.brushed = null;
    this.choice = { x: 0, y: 0 }; // the variant of each axis' table
    this.dense = new Map();
    this.table = new PagedTable(part("list"), (cell, text, row, column) => this.fill(cell, text, row, column));
    this.size = data.size; // the column that says how large a network is
    this.sizes = { [this.size]: this.steps(this.size, data.sizes), degree: this.steps("degree", data.degrees) };
    this.offerWindows();
    const changed = () => { this.show(); writeAddress(); };
    for (const axis of AXES) {
      part(axis).addEventListener("change", () => { this.settle(axis); changed(); });
      part(`${axis}-better`).addEventListener("change", changed);
      part(`${axis}-log`).addEventListener("change", changed);
    }
    part("window").addEventListener("change", () => { this.setRange(this.size, part("window").value.split("-").map(Number)); changed(); });
    for (const button of document.querySelectorAll("[data-group]")) button.addEventListener("click", () => { this.pick(Number(button.dataset.group)); changed(); });
    part("families").addEventListener("click", () => { this.chosen.clear(); this.press(); changed(); });
    part("front").addEventListener("change", () => { this.list(); writeAddress(); });
    part("copy").addEventListener("click", () => this.copy(this.table.found().map((row) => this.command(textOf(row[0]))).join("\n"), part("copy")));
    this.initial = { x: part("x").value, y: part("y").value };
    this.reset();
  }

  reset() {
    const widest = windowsOf(this.data.sizes).reduce((best, own) => (own.designs >= best.designs ? own : best));
    this.choice = { x: 0, y: 0 };
    this.wanted = {};
    for (const axis of AXES) {
      part(axis).value = this.initial[axis];
      this.settle(axis);
    }
    this.setRange(this.size, [widest.from, widest.to]);
    this.setRange("degree", [-Infinity, Infinity]);
    this.chosen.clear();
    part("front").checked = false;
    this.press();
  }

  // --- sizes ---

  // two sliders over the sizes that occur; neither passes the other
  steps(name, values) {
    const sizes = [...new Set(values)].sort((a, b) => a - b);
    const [from, to] = [part(`${name}-from`), part(`${name}-to`)];
    for (const end of [from, to]) {
      end.max = sizes.length - 1;
      end.value = end === from ? 0 : sizes.length - 1;
      end.addEventListener("input", () => {
        if (Number(from.value) > Number(to.value)) end.value = end === from ? to.value : from.value;
        this.show();
        writeAddress();
      });
    }
    return sizes;
  }

  offerWindows() {
    const { sizes } = this.data;
    const [least, most] = [this.sizes[this.size][0], this.sizes[this.size].at(-1)];
    const all = element("option", { value: `${least}-${most}`, textContent: `all sizes: ${designsIn(sizes.length)}` });
    const some = windowsOf(sizes).map(({ about, from, to, designs }) => element("option", {
      value: `${from}-${to}`, textContent: `about ${written(about)}: ${designsIn(designs)}`,
    }));
    part("window").append(all, ...some, element("option", { value: "", textContent: "as the sliders say", hidden: true }));
  }

  // the sliders at the sizes within these
  setRange(name, [least, most]) {
    const sizes = this.sizes[name];
    const from = sizes.findIndex((size) => size >= least);
    const to = sizes.findLastIndex((size) => size <= most);
    if (from < 0 || to < from) return;
    part(`${name}-from`).value = from;
    part(`${name}-to`).value = to;
  }

  range(name) {
    return ["from", "to"].map((end) => {
      const slider = part(`${name}-${end}`);
      const size = this.sizes[name][slider.value];
      slider.nextElementSibling.textContent = written(size);
      slider.setAttribute("aria-valuetext", written(size));
      return size;
    });
  }

  // --- quantities ---

  quantity(axis) {
    return this.data.quantities[part(axis).value];
  }

  // the variants that have numbers of an axis' quantity
  variants(axis) {
    return this.quantity(axis).values.flatMap((numbers, variant) => (numbers ? [variant] : []));
  }

  // a number for each design, null where there is none
  values(axis) {
    const [key, quantity] = [`${part(axis).value} ${this.choice[axis]}`, this.quantity(axis)];
    if (!this.dense.has(key)) {
      const dense = new Array(this.data.topologies.length).fill(null);
      const places = this.data.tables[quantity.table].at[this.choice[axis]];
      quantity.values[this.choice[axis]].forEach((value, i) => { dense[places[i]] = value; });
      this.dense.set(key, dense);
    }
    return this.dense.get(key);
  }

  // a quantity newly chosen: the variant most like the last, which way is better, and whether a logarithm shows it best
  settle(axis) {
    const quantity = this.quantity(axis);
    this.choose(axis, this.wanted?.[axis] ?? {});
    part(`${axis}-better`).value = quantity.larger ? "larger" : "smaller";
    part(`${axis}-meaning`).textContent = part(axis).selectedOptions[0].title;
    part(`${axis}-title`).textContent = quantity.name.replaceAll("_", " ");
    this.settleScale(axis);
  }

  settleScale(axis) {
    const known = this.values(axis).filter((value) => value !== null);
    const least = known.reduce((a, b) => Math.min(a, b));
    const log = part(`${axis}-log`);
    log.disabled = least <= 0;
    log.checked = least > 0 && known.reduce((a, b) => Math.max(a, b)) / least >= 20;
  }

  // takes the variant that agrees with what is wanted in the first keys, and offers what else there is of each key
  choose(axis, wanted) {
    const { keys, choices } = this.data.tables[this.quantity(axis).table];
    let left = this.variants(axis);
    const pickers = [];
    keys.forEach((key, k) => {
      const offered = [...new Set(left.map((variant) => choices[variant][k]))];
      const taken = offered.includes(wanted[key]) ? wanted[key] : offered[0];
      if (offered.length > 1) pickers.push(this.picker(axis, key, offered, taken));
      left = left.filter((variant) => choices[variant][k] === taken);
    });
    this.choice[axis] = left[0];
    part(`${axis}-choices`).replaceChildren(...pickers);
  }

  picker(axis, key, offered, taken) {
    if (offered.every((value) => !Number.isNaN(Number(value)))) offered.sort((a, b) => a - b);
    const options = offered.map((value) => element("option", { value, textContent: value, selected: value === taken }));
    const select = element("select", {}, ...options);
    select.dataset.key = key;
    select.addEventListener("change", () => {
      this.wanted = { ...this.wanted, [axis]: { ...this.chosenWords(axis), [key]: select.value } };
      this.choose(axis, this.wanted[axis]);
      this.settleScale(axis);
      part(`${axis}-choices`).querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus();
      this.show();
      writeAddress();
    });
    return element("label", {}, `${key} `, select);
  }

  // what is chosen of each key of an axis' table
  chosenWords(axis) {
    const { keys, choices } = this.data.tables[this.quantity(axis).table];
    return Object.fromEntries(keys.map((key, k) => [key, choices[this.choice[axis]][k]]));
  }

  // --- families ---

  pick(group) {
    if (!this.chosen.delete(group)) this.chosen.add(group);
    this.press();
  }

  press() {
    for (const button of document.querySelectorAll("[data-group]")) button.setAttribute("aria-pressed", this.chosen.has(Number(button.dataset.group)));
    part("families").setAttribute("aria-pressed", !this.chosen.size);
  }

  // --- the address ---

  describe(chosen) {
    for (const axis of AXES) {
      const quantity = this.quantity(axis);
      chosen.set(axis, named(quantity));
      for (const [key, value] of Object.entries(this.chosenWords(axis))) chosen.set(`${axis}.${key}`, value);
      chosen.set(`${axis}.better`, part(`${axis}-better`).value);
      chosen.set(`${axis}.log`, Number(part(`${axis}-log`).checked));
    }
    chosen.set(this.size, this.range(this.size).join("-"));
    chosen.set("degree", this.range("degree").join("-"));
    for (const group of this.chosen) chosen.append("family", this.data.names[group]);
    if (part("front").checked) chosen.set("front", 1);
  }

  // what an address says and this sweep has; of anything else, what is shown first
  restore(chosen) {
    this.reset();
    for (const axis of AXES) {
      const place = this.data.quantities.findIndex((quantity) => named(quantity) === chosen.get(axis));
      if (place < 0) continue;
      part(axis).value = place;
      const { keys } = this.data.tables[this.quantity(axis).table];
      this.wanted = { ...this.wanted, [axis]: Object.fromEntries(keys.map((key) => [key, chosen.get(`${axis}.${key}`)])) };
      this.settle(axis);
      if (["smaller", "larger"].includes(chosen.get(`${axis}.better`))) part(`${axis}-better`).value = chosen.get(`${axis}.better`);
      if (chosen.has(`${axis}.log`) && !part(`${axis}-log`).disabled) part(`${axis}-log`).checked = chosen.get(`${axis}.log`) === "1";
    }
    for (const name of [this.size, "degree"]) {
      const sizes = (chosen.get(name) ?? "").split("-").map(Number);
      if (sizes.length === 2 && sizes.every(Number.isFinite)) this.setRange(name, sizes);
    }
    for (const family of chosen.getAll("family")) {
      const group = this.data.names.indexOf(family);
      if (group >= 0) this.chosen.add(group);
    }
    part("front").checked = chosen.get("front") === "1";
    this.press();
    this.show();
  }

  // --- drawing ---

  points() {
    const [xs, ys] = AXES.map((axis) => this.values(axis));
    const { topologies, groups, names, sizes, degrees } = this.data;
    const [least, most] = this.range(this.size);
    const [degreeFrom, degreeTo] = this.range("degree");
    this.similarSizes = most <= ALIKE * least || AXES.some((axis) => this.quantity(axis).name === this.size);
    part("window").value = `${least}-${most}`;
    if (part("window").selectedIndex < 0) part("window").value = "";
    const points = [];
    this.lacking = 0;
    for (let i = 0; i < topologies.length; i++) {
      if (this.chosen.size && !this.chosen.has(groups[i])) continue;
      if (sizes[i] < least || sizes[i] > most || degrees[i] < degreeFrom || degrees[i] > degreeTo) continue;
      if (xs[i] === null || ys[i] === null) { this.lacking++; continue; }
      points.push({ x: xs[i], y: ys[i], topology: topologies[i], group: names[groups[i]], [this.size]: sizes[i], degree: degrees[i], front: 0 });
    }
    return points;
  }

  // of changes that follow each other faster than they can be drawn, the last
  show() {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.draw(), this.data.topologies.length > 3000 ? 150 : 0);
  }

  draw() {
    const better = Object.fromEntries(AXES.map((name) => [name, part(`${name}-better`).value === "larger" ? -1 : 1]));
    this.shown = this.points();
    this.front = this.similarSizes ? frontOf(this.shown, better) : [];
    for (const point of this.front) point.front = 1;
    this.brushed = null;
    const specification = structuredClone(this.specification);
    const [line, marks] = specification.layer;
    for (const name of AXES) {
      const thousands = this.shown.some((point) => Math.abs(point[name]) >= 10000); // 20k, but never 20m for 0.02
      for (const layer of [line, marks]) {
        const log = part(`${name}-log`).checked;
        const ticks = log ? { values: marked(this.shown.map((point) => point[name])) } : { tickCount: 7 };
        Object.assign(layer.encoding[name], { title: titled(this.quantity(name)), axis: { format: thousands ? "~s" : ".6~r", ...ticks } });
        Object.assign(layer.encoding[name].scale, log ? { type: "log" } : { type: "linear", zero: false });
      }
      marks.encoding.tooltip.find((field) => field.field === name).title = titled(this.quantity(name));
    }
    const ordered = [...this.front].sort((p, q) => p.x - q.x || better.x * better.y * (q.y - p.y));
    line.mark.interpolate = better.x > 0 ? "step-after" : "step-before";
    marks.mark.size = this.shown.length > 5000 ? 14 : this.shown.length > 800 ? 30 : 60;
    marks.encoding.opacity.scale.range = [this.shown.length > 800 ? 0.6 : 0.85, 1];
    specification.datasets = { points: this.shown, front: ordered.map(({ x, y }, place) => ({ x, y, place })) };
    // a finger that drags scrolls the page, it does not select
    if (!window.matchMedia("(pointer: coarse)").matches) marks.params = [{ name: "brush", select: { type: "interval" } }];
    if (!this.front.length) specification.layer = [marks]; // a line through nothing has no ends
    part("chart").toggleAttribute("data-empty", !this.shown.length); // an axis of nothing has no ends
    if (!this.shown.length) {
      requested.set(part("chart"), null);
      this.view?.finalize();
      part("chart").textContent = "No design is left: widen the sliders, release a family, or choose another quantity.";
      this.list();
      return;
    }
    const [along, up] = AXES.map((axis) => titled(this.quantity(axis)));
    specification.description = `${up} against ${along}. ${written(this.shown.length)} designs, ${written(this.front.length)} on the front; the table below has their numbers.`;
    this.drawn = specification;
    embed(part("chart"), specification, { height: 460, renderer: this.shown.length > 1000 ? "canvas" : "svg" }).then((drawn) => {
      if (!drawn) return; // a newer one follows
      const { view } = drawn;
      this.view = view;
      if (marks.params) view.addSignalListener("brush", (_, area) => { this.brushed = area.x && area.y ? area : null; this.list(); });
    });
    this.list();
  }

  // the chart as a file has it: with a legend, which the page has as buttons
  file() {
    if (!this.shown.length) return null;
    const specification = structuredClone(this.drawn);
    const marks = specification.layer.at(-1);
    const legend = { values: [...new Set(this.shown.map((point) => point.group))], symbolOpacity: 1 };
    for (const channel of ["color", "shape"]) marks.encoding[channel].legend = legend;
    delete marks.params;
    return specification;
  }

  command(topology) {
    return `torusweep describe ${quoted(topology)}`;
  }

  // the table: what is shown, and within the area dragged over where there is one; the front first
  list() {
    const within = (value, [a, b]) => value >= Math.min(a, b) && value <= Math.max(a, b);
    const area = this.brushed;
    const inside = area ? this.shown.filter((point) => within(point.x, area.x) && within(point.y, area.y)) : this.shown;
    const onFront = inside.filter((point) => point.front);
    const selected = part("front").checked ? onFront : [...onFront, ...inside.filter((point) => !point.front)];
    const said = [`${written(inside.length)} of ${written(this.data.topologies.length)} designs ${area ? "selected" : "shown"}`];
    if (this.similarSizes) said[0] += `, ${written(onFront.length)} on the front`;
    else said.push("no front is drawn over sizes that differ this much: choose a window of network sizes");
    if (this.lacking) said.push(`${written(this.lacking)} have no finite number in one of the quantities`);
    part("status").textContent = `${said.join("; ")}.`;
    const names = AXES.map((axis) => this.quantity(axis).name);
    for (const header of this.table.headers) header.hidden = names.includes(header.dataset.column); // it stands there as x or y
    this.table.unsort();
    const cell = (value) => [written(value), "number", value];
    const rows = selected.map((point) => [point.topology, point.front ? "front" : "", cell(point.x), cell(point.y), cell(point[this.size]), cell(point.degree)]);
    this.table.set(rows, ["name", "", "number", "number", "number", "number"]);
  }

  fill(cell, text, row, column) {
    if (column > 0) { cell.append(text); return; }
    const button = element("button", { type: "button", textContent: "Copy" });
    button.setAttribute("aria-label", `Copy: ${this.command(text)}`);
    button.addEventListener("click", () => this.copy(this.command(text), button));
    cell.classList.add("command");
    cell.append(element("code", {}, ...breakable(text)), button);
  }

  // where a browser lets no page write to the clipboard, the command is shown and selected, for the keyboard to copy
  async copy(text, button) {
    const before = button.textContent;
    const code = button.previousElementSibling;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      if (code?.tagName === "CODE") {
        code.textContent = text;
        getSelection().selectAllChildren(code);
      }
      button.textContent = "Press Ctrl+C";
    }
    setTimeout(() => { button.textContent = before; }, 1500);
  }
}

async function startExplorer() {
  const data = document.getElementById("designs").textContent;
  if (data) explorer = new Explorer(await unpacked(data), charts.explorer);
}
