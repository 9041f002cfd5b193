// A grid of rows with one tab stop. Arrow keys move, Space and clicks select, Enter opens, Backspace goes up.
// The kernel sends the rows and receives the selection.

function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children); // strings become text nodes, so a file name is never parsed as HTML
  return node;
}

class Grid {
  constructor(model, el) {
    this.model = model;
    this.current = 0; // the row that is the tab stop
    this.anchor = 0; // the start of a selection with Shift
    this.drawn = [];
    this.columns = Object.entries(model.get("columns")); // the first one is the name of a row
    const names = this.columns.map(([key, words]) => element("th", { scope: "col", class: `svc-${key}` }, words));
    const chosen = element("th", { scope: "col", class: "svc-chosen" }, element("span", { class: "svc-unseen" }, "Selected"));
    this.body = element("tbody");
    const marks = { role: "grid", "aria-multiselectable": "true", "aria-label": model.get("label") };
    this.table = element("table", marks, element("thead", {}, element("tr", {}, chosen, ...names)), this.body);
    this.empty = element("p", { class: "svc-nothing", tabindex: "0" });
    const keys = "Arrow keys move, Space selects, Enter opens";
    this.box = element("div", { class: "svc-grid", title: keys }, this.table, this.empty);
    el.append(this.box);
    this.box.addEventListener("keydown", (event) => this.key(event));
    this.body.addEventListener("click", (event) => this.click(event));
    this.body.addEventListener("dblclick", (event) => this.open(this.rowIndex(event)));
  }

  get rows() {
    return this.model.get("rows");
  }

  draw() {
    const hadFocus = this.box.contains(document.activeElement);
    this.current = this.indexOf(this.drawn[this.current]?.id);
    this.drawn = this.rows;
    this.body.replaceChildren(...this.rows.map((row, n) => this.line(row, n)));
    this.table.hidden = !this.rows.length;
    this.empty.hidden = this.rows.length > 0;
    this.empty.textContent = this.model.get("empty_message");
    this.mark();
    if (hadFocus) this.focus();
  }

  // The row that gets the focus: the same file, a near one if it is gone, otherwise the first.
  indexOf(id) {
    const indexById = new Map(this.rows.map((row, n) => [row.id, n]));
    if (indexById.has(id)) return indexById.get(id);
    const others = this.drawn.some((row) => indexById.has(row.id));
    return others ? Math.min(this.current, this.rows.length - 1) : 0;
  }

  focus() {
    (this.body.rows[this.current] ?? this.empty).focus();
  }

  line(row, n) {
    const mark = element("td", { class: "svc-chosen" });
    const [[first], ...others] = this.columns;
    const name = element("td", { class: "svc-name" }, element("span", {}, row[first]));
    if (row.note) name.append(element("small", {}, row.note));
    if (row.more) name.append(element("small", { class: "svc-more" }, row.more));
    const rest = others.map(([key]) => element("td", { class: `svc-${key}` }, row[key]));
    return element("tr", { "data-n": n, class: row.folder ? "svc-folder" : "" }, mark, name, ...rest);
  }

  // Uses the rows on the page, because this may be called before new rows of the same message are drawn.
  mark() {
    const chosen = new Set(this.model.get("chosen"));
    [...this.body.rows].forEach((line, n) => {
      const selected = chosen.has(this.drawn[n].id);
      line.setAttribute("aria-selected", String(selected));
      line.tabIndex = n === this.current ? 0 : -1;
      line.cells[0].textContent = selected ? "✓" : "";
    });
  }

  rowIndex(event) {
    return Number(event.target.closest("tr").dataset.n);
  }

  go(n, { extend = false, keep = false } = {}) {
    if (!this.rows.length) return;
    this.current = Math.max(0, Math.min(n, this.rows.length - 1));
    if (!extend) this.anchor = this.current;
    if (!keep) this.choose(this.rows.slice(Math.min(this.anchor, this.current), Math.max(this.anchor, this.current) + 1));
    this.mark();
    this.body.rows[this.current].focus();
  }

  choose(rows) {
    this.model.set("chosen", rows.map((row) => row.id));
    this.model.save_changes();
  }

  toggle(n) {
    const chosen = new Set(this.model.get("chosen"));
    const { id } = this.rows[n];
    if (!chosen.delete(id)) chosen.add(id);
    this.anchor = n;
    this.choose(this.rows.filter((row) => chosen.has(row.id)));
    this.go(n, { keep: true });
  }

  open(n) {
    if (this.rows[n]) this.model.send({ kind: "open", id: this.rows[n].id });
  }

  click(event) {
    const n = this.rowIndex(event);
    if (event.ctrlKey || event.metaKey || event.target.closest(".svc-chosen")) this.toggle(n);
    else this.go(n, { extend: event.shiftKey });
  }

  key(event) {
    const options = { extend: event.shiftKey, keep: event.ctrlKey || event.metaKey };
    const last = this.rows.length - 1;
    const keys = {
      ArrowDown: () => this.go(this.current + 1, options),
      ArrowUp: () => this.go(this.current - 1, options),
      PageDown: () => this.go(this.current + 10, options),
      PageUp: () => this.go(this.current - 10, options),
      Home: () => this.go(0, options),
      End: () => this.go(last, options),
      " ": () => this.toggle(this.current),
      Enter: () => this.open(this.current),
      Backspace: () => this.model.send({ kind: "up" }),
      a: options.keep ? () => this.choose(this.rows) : null,
    };
    if (event.altKey || !keys[event.key]) return;
    event.preventDefault();
    event.stopPropagation();
    keys[event.key]();
  }
}

function render({ model, el }) {
  const grid = new Grid(model, el);
  const draw = () => grid.draw();
  const mark = () => grid.mark();
  const handleMessage = (content) => {
    if (content.kind === "focus") grid.focus();
  };
  model.on("change:rows", draw);
  model.on("change:empty_message", draw);
  model.on("change:chosen", mark);
  model.on("msg:custom", handleMessage);
  draw();
  return () => {
    model.off("change:rows", draw);
    model.off("change:empty_message", draw);
    model.off("change:chosen", mark);
    model.off("msg:custom", handleMessage);
  };
}

export default { render };
