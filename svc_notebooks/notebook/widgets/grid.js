// Rows as a grid: one stop for Tab, arrows inside. Space and clicks choose, Enter opens, Backspace goes up.
// The kernel says which rows there are, and hears which are chosen.

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children); // text becomes text nodes: a file name is never read as HTML
  return made;
}

class Grid {
  constructor(model, el) {
    this.model = model;
    this.at = 0; // the row that Tab comes to
    this.from = 0; // where a choice with Shift begins
    this.drawn = [];
    this.columns = Object.entries(model.get("columns")); // the first one is the name of a row
    const names = this.columns.map(([key, words]) => element("th", { scope: "col", class: `svc-${key}` }, words));
    const chosen = element("th", { scope: "col", class: "svc-chosen" }, element("span", { class: "svc-unseen" }, "Chosen"));
    this.body = element("tbody");
    const marks = { role: "grid", "aria-multiselectable": "true", "aria-label": model.get("label") };
    this.table = element("table", marks, element("thead", {}, element("tr", {}, chosen, ...names)), this.body);
    this.empty = element("p", { class: "svc-nothing", tabindex: "0" });
    const keys = "Arrows go through the rows, Space chooses, Enter opens";
    this.box = element("div", { class: "svc-grid", title: keys }, this.table, this.empty);
    el.append(this.box);
    this.box.addEventListener("keydown", (event) => this.key(event));
    this.body.addEventListener("click", (event) => this.click(event));
    this.body.addEventListener("dblclick", (event) => this.open(this.place(event)));
  }

  get rows() {
    return this.model.get("rows");
  }

  draw() {
    const had = this.box.contains(document.activeElement);
    this.at = this.follow(this.drawn[this.at]?.id);
    this.drawn = this.rows;
    this.body.replaceChildren(...this.rows.map((row, n) => this.line(row, n)));
    this.table.hidden = !this.rows.length;
    this.empty.hidden = this.rows.length > 0;
    this.empty.textContent = this.model.get("nothing");
    this.mark();
    if (had) this.focus();
  }

  // Where the keyboard goes on: at the same file, near it if it is gone, else at the top.
  follow(id) {
    const there = new Map(this.rows.map((row, n) => [row.id, n]));
    if (there.has(id)) return there.get(id);
    const others = this.drawn.some((row) => there.has(row.id));
    return others ? Math.min(this.at, this.rows.length - 1) : 0;
  }

  focus() {
    (this.body.rows[this.at] ?? this.empty).focus();
  }

  line(row, n) {
    const sign = element("td", { class: "svc-chosen" });
    const [[first], ...others] = this.columns;
    const name = element("td", { class: "svc-name" }, element("span", {}, row[first]));
    if (row.note) name.append(element("small", {}, row.note));
    if (row.more) name.append(element("small", { class: "svc-more" }, row.more));
    const rest = others.map(([key]) => element("td", { class: `svc-${key}` }, row[key]));
    return element("tr", { "data-n": n, class: row.folder ? "svc-folder" : "" }, sign, name, ...rest);
  }

  // Of the rows that are drawn: where both change in one message, this may be called before the new ones are.
  mark() {
    const chosen = new Set(this.model.get("chosen"));
    [...this.body.rows].forEach((line, n) => {
      const is = chosen.has(this.drawn[n].id);
      line.setAttribute("aria-selected", String(is));
      line.tabIndex = n === this.at ? 0 : -1;
      line.cells[0].textContent = is ? "✓" : "";
    });
  }

  place(event) {
    return Number(event.target.closest("tr").dataset.n);
  }

  go(n, { extend = false, keep = false } = {}) {
    if (!this.rows.length) return;
    this.at = Math.max(0, Math.min(n, this.rows.length - 1));
    if (!extend) this.from = this.at;
    if (!keep) this.choose(this.rows.slice(Math.min(this.from, this.at), Math.max(this.from, this.at) + 1));
    this.mark();
    this.body.rows[this.at].focus();
  }

  choose(rows) {
    this.model.set("chosen", rows.map((row) => row.id));
    this.model.save_changes();
  }

  toggle(n) {
    const chosen = new Set(this.model.get("chosen"));
    const { id } = this.rows[n];
    if (!chosen.delete(id)) chosen.add(id);
    this.from = n;
    this.choose(this.rows.filter((row) => chosen.has(row.id)));
    this.go(n, { keep: true });
  }

  open(n) {
    if (this.rows[n]) this.model.send({ kind: "open", id: this.rows[n].id });
  }

  click(event) {
    const n = this.place(event);
    if (event.ctrlKey || event.metaKey || event.target.closest(".svc-chosen")) this.toggle(n);
    else this.go(n, { extend: event.shiftKey });
  }

  key(event) {
    const how = { extend: event.shiftKey, keep: event.ctrlKey || event.metaKey };
    const last = this.rows.length - 1;
    const keys = {
      ArrowDown: () => this.go(this.at + 1, how),
      ArrowUp: () => this.go(this.at - 1, how),
      PageDown: () => this.go(this.at + 10, how),
      PageUp: () => this.go(this.at - 10, how),
      Home: () => this.go(0, how),
      End: () => this.go(last, how),
      " ": () => this.toggle(this.at),
      Enter: () => this.open(this.at),
      Backspace: () => this.model.send({ kind: "up" }),
      a: how.keep ? () => this.choose(this.rows) : null,
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
  const hear = (content) => {
    if (content.kind === "focus") grid.focus();
  };
  model.on("change:rows", draw);
  model.on("change:nothing", draw);
  model.on("change:chosen", mark);
  model.on("msg:custom", hear);
  draw();
  return () => {
    model.off("change:rows", draw);
    model.off("change:nothing", draw);
    model.off("change:chosen", mark);
    model.off("msg:custom", hear);
  };
}

export default { render };
