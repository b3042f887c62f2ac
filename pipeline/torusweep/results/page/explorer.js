const MOST_LISTED = 200;
const AXES = ["x", "y"];
const part = (name) => document.getElementById(`explorer-${name}`);
const written = (value) => (Number.isInteger(value) ? value.toLocaleString("en") : String(Number(value.toPrecision(6))));
const titled = (axis) => axis.name.replaceAll("_", " ") + (axis.unit && axis.unit !== axis.name ? `, ${axis.unit}` : "");

async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return JSON.parse(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text());
}

// where a logarithmic axis is labelled: at powers of ten, and at 2 and 5 times these where there is room
function marked(values) {
  const [least, most] = values.reduce(([a, b], value) => [Math.min(a, value), Math.max(b, value)], [Infinity, 0]);
  const steps = most / least > 2000 ? [1] : [1, 2, 5];
  if (least === most) return [least];
  const found = [];
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

class Explorer {
  constructor(data, specification) {
    this.data = data;
    this.specification = specification;
    this.chosen = new Set();
    this.brushed = null;
    this.sizes = { nodes: this.steps("nodes", data.nodes), degree: this.steps("degree", data.degrees) };
    for (const axis of AXES) {
      part(axis).addEventListener("change", () => { this.settle(axis); this.show(); });
      part(`${axis}-better`).addEventListener("change", () => this.show());
      part(`${axis}-log`).addEventListener("change", () => this.show());
      this.settle(axis);
    }
    for (const button of document.querySelectorAll(".families button")) button.addEventListener("click", () => this.pick(button));
    part("front").addEventListener("change", () => this.list());
    part("copy").addEventListener("click", () => this.copy(this.listed.map((point) => this.command(point)).join("\n"), part("copy")));
    part("table").tBodies[0].addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (button) this.copy(button.nextElementSibling.textContent, button);
    });
  }

  // two sliders over the sizes that occur; neither passes the other
  steps(name, values) {
    const sizes = [...new Set(values)].sort((a, b) => a - b);
    const [from, to] = [part(`${name}-from`), part(`${name}-to`)];
    for (const end of [from, to]) {
      end.max = sizes.length - 1;
      end.value = end === from ? 0 : sizes.length - 1;
      end.addEventListener("input", () => {
        if (Number(from.value) > Number(to.value)) end.value = end === from ? to.value : from.value;
        this.range(name);
        this.show();
      });
    }
    return sizes;
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

  axis(name) {
    return this.data.axes[part(name).value];
  }

  // a column newly chosen: which way is better, and whether its numbers spread so far that a logarithm shows them best
  settle(name) {
    const axis = this.axis(name);
    const known = axis.values.filter((value) => value !== null);
    const least = known.reduce((a, b) => Math.min(a, b));
    const log = part(`${name}-log`);
    log.disabled = least <= 0;
    log.checked = least > 0 && known.reduce((a, b) => Math.max(a, b)) / least >= 20;
    part(`${name}-better`).value = axis.larger ? "larger" : "smaller";
    part(`${name}-meaning`).textContent = part(name).selectedOptions[0].title;
    part(`${name}-title`).textContent = axis.name.replaceAll("_", " ");
  }

  pick(button) {
    const group = Number(button.dataset.group);
    if (!this.chosen.delete(group)) this.chosen.add(group);
    button.setAttribute("aria-pressed", this.chosen.has(group));
    this.show();
  }

  points() {
    const [xs, ys] = AXES.map((name) => this.axis(name).values);
    const { topologies, groups, names, nodes, degrees } = this.data;
    const [nodesFrom, nodesTo] = this.range("nodes");
    const [degreeFrom, degreeTo] = this.range("degree");
    const points = [];
    this.lacking = 0;
    for (let i = 0; i < topologies.length; i++) {
      if (this.chosen.size && !this.chosen.has(groups[i])) continue;
      if (nodes[i] < nodesFrom || nodes[i] > nodesTo || degrees[i] < degreeFrom || degrees[i] > degreeTo) continue;
      if (xs[i] === null || ys[i] === null) { this.lacking++; continue; }
      points.push({ x: xs[i], y: ys[i], topology: topologies[i], group: names[groups[i]], nodes: nodes[i], degree: degrees[i], front: 0 });
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
    this.front = frontOf(this.shown, better);
    for (const point of this.front) point.front = 1;
    this.brushed = null;
    const specification = structuredClone(this.specification);
    const [line, marks] = specification.layer;
    for (const name of AXES) {
      const thousands = this.shown.some((point) => Math.abs(point[name]) >= 10000); // 20k, but never 20m for 0.02
      for (const layer of [line, marks]) {
        const log = part(`${name}-log`).checked;
        const ticks = log ? { values: marked(this.shown.map((point) => point[name])) } : { tickCount: 7 };
        Object.assign(layer.encoding[name], { title: titled(this.axis(name)), axis: { format: thousands ? "~s" : ".6~r", ...ticks } });
        Object.assign(layer.encoding[name].scale, log ? { type: "log" } : { type: "linear", zero: false });
      }
      marks.encoding.tooltip.find((field) => field.field === name).title = titled(this.axis(name));
    }
    const ordered = [...this.front].sort((p, q) => p.x - q.x || better.x * better.y * (q.y - p.y));
    line.mark.interpolate = better.x > 0 ? "step-after" : "step-before";
    marks.mark.size = this.shown.length > 5000 ? 14 : this.shown.length > 800 ? 30 : 60;
    marks.encoding.opacity.scale.range = [this.shown.length > 800 ? 0.6 : 0.85, 1];
    specification.datasets = { points: this.shown, front: ordered.map(({ x, y }, place) => ({ x, y, place })) };
    // a finger that drags scrolls the page, it does not select
    if (!window.matchMedia("(pointer: coarse)").matches) marks.params = [{ name: "brush", select: { type: "interval" } }];
    part("chart").toggleAttribute("data-empty", !this.shown.length); // an axis of nothing has no ends
    if (!this.shown.length) {
      this.view?.finalize();
      part("chart").textContent = "No design is left: widen the sliders, release a family, or choose another column.";
      this.list();
      return;
    }
    embed(part("chart"), specification, { height: 460, renderer: this.shown.length > 2000 ? "canvas" : "svg" }).then(({ view }) => {
      this.view = view;
      if (marks.params) view.addSignalListener("brush", (_, area) => { this.brushed = area.x && area.y ? area : null; this.list(); });
    });
    this.list();
  }

  command(point) {
    return `torusweep describe ${quoted(point.topology)}`;
  }

  // the table: what is shown, and within the area dragged over where there is one; the front first
  list() {
    const within = (value, [a, b]) => value >= Math.min(a, b) && value <= Math.max(a, b);
    const area = this.brushed;
    const inside = area ? this.shown.filter((point) => within(point.x, area.x) && within(point.y, area.y)) : this.shown;
    const onFront = inside.filter((point) => point.front);
    const selected = part("front").checked ? onFront : [...onFront, ...inside.filter((point) => !point.front)];
    this.listed = selected.slice(0, MOST_LISTED);
    const said = [`${written(inside.length)} of ${written(this.data.topologies.length)} designs ${area ? "selected" : "shown"}, ${written(onFront.length)} on the front`];
    if (this.lacking) said.push(`${written(this.lacking)} have no finite number in one of the columns`);
    if (selected.length > this.listed.length) said.push(`the first ${MOST_LISTED} are listed`);
    part("status").textContent = `${said.join("; ")}.`;
    const table = part("table");
    const names = AXES.map((name) => this.axis(name).name);
    for (const header of table.querySelectorAll("th")) {
      header.removeAttribute("aria-sort");
      header.hidden = names.includes(header.dataset.column); // it stands there as x or y
    }
    table.tBodies[0].replaceChildren(...this.listed.map((point) => this.row(point, names)));
  }

  row(point, names) {
    const row = document.createElement("tr");
    const line = row.insertCell();
    line.className = "command";
    const button = document.createElement("button");
    const code = document.createElement("code");
    code.textContent = this.command(point);
    button.type = "button";
    button.textContent = "Copy";
    button.setAttribute("aria-label", `Copy: ${code.textContent}`);
    line.append(button, code);
    row.insertCell().textContent = point.front ? "front" : "";
    for (const [name, column] of [["x"], ["y"], ["nodes", "nodes"], ["degree", "degree_max"]]) {
      const cell = row.insertCell();
      cell.textContent = written(point[name]);
      cell.className = "number";
      cell.dataset.value = point[name];
      cell.hidden = names.includes(column);
    }
    return row;
  }

  // where a browser lets no page write to the clipboard, the line is selected, for the keyboard to copy
  async copy(text, button) {
    const before = button.textContent;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      if (button.nextElementSibling) getSelection().selectAllChildren(button.nextElementSibling);
      button.textContent = "Press Ctrl+C";
    }
    setTimeout(() => { button.textContent = before; }, 1500);
  }
}

async function explore() {
  const data = document.getElementById("designs").textContent;
  if (!data) return;
  explorer = new Explorer(await unpacked(data), charts.explorer);
  explorer.show();
}
