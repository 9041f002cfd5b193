// A grid of rows with one tab stop. Arrow keys and typed letters move, Space and clicks select, Enter opens, Backspace
// goes up. The headings are buttons that sort. The kernel sends the rows and receives the selection.

const TYPING_PAUSE = 1000; // milliseconds after which a letter begins another name

const collator = new Intl.Collator(undefined, { usage: "search", sensitivity: "base" });

function beginsWith(name, text) {
  return collator.compare(name.slice(0, text.length), text) === 0;
}

function focusIsLost() {
  const focused = document.activeElement;
  return !focused || focused === document.body || focused.disabled || !focused.checkVisibility();
}

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
    this.clicked = null; // the id of the row that was clicked last
    this.typed = "";
    this.typedAt = 0;
    this.drawn = [];
    this.columns = Object.entries(model.get("columns")); // the first one is the name of a row
    const names = this.columns.map(([key, words]) => element("th", { scope: "col", class: `svc-${key}` }, words));
    this.headings = new Map(this.columns.map(([key], n) => [key, names[n]]));
    const chosen = element("th", { scope: "col", class: "svc-chosen" }, element("span", { class: "svc-unseen" }, "Selected"));
    this.body = element("tbody");
    const marks = { role: "grid", "aria-multiselectable": "true", "aria-label": model.get("label") };
    this.table = element("table", marks, element("thead", {}, element("tr", {}, chosen, ...names)), this.body);
    this.empty = element("p", { class: "svc-nothing", tabindex: "0" });
    this.box = element("div", { class: "svc-grid" }, this.table, this.empty);
    this.body.title = "Arrow keys and letters move, Space selects, Enter opens";
    el.append(this.box);
    this.box.addEventListener("keydown", (event) => this.key(event));
    this.body.addEventListener("click", (event) => this.click(event));
  }

  get rows() {
    return this.model.get("rows");
  }

  draw() {
    const hadFocus = this.body.contains(document.activeElement) || document.activeElement === this.empty;
    this.current = this.indexOf(this.drawn[this.current]?.id);
    this.drawn = this.rows;
    this.body.replaceChildren(...this.rows.map((row, n) => this.line(row, n)));
    this.table.hidden = !this.rows.length;
    this.empty.hidden = this.rows.length > 0;
    this.empty.textContent = this.model.get("empty_message");
    this.mark();
    if (hadFocus) this.focus();
  }

  // A heading keeps its button, and so the focus, while only the order changes.
  drawHead() {
    const { column, descending } = this.model.get("order");
    for (const [key, words] of this.columns) {
      const heading = this.headings.get(key);
      const sorts = this.model.get("sortable").includes(key);
      if (sorts !== Boolean(heading.firstElementChild)) heading.replaceChildren(sorts ? this.sortButton(key, words) : words);
      if (sorts && key === column) heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
      else heading.removeAttribute("aria-sort");
    }
  }

  sortButton(key, words) {
    const button = element("button", { type: "button", title: `Sort by ${words}` }, words);
    button.addEventListener("click", () => this.model.send({ kind: "sort", column: key }));
    return button;
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

  // The second click of a double click opens the row of the first one: a message that has vanished in between may have
  // moved the rows.
  click(event) {
    const n = this.rowIndex(event);
    if (event.ctrlKey || event.metaKey || event.target.closest(".svc-chosen")) return this.toggle(n);
    if (event.detail === 2) return this.open(this.rows.findIndex((row) => row.id === this.clicked));
    this.clicked = this.rows[n].id;
    this.go(n, { extend: event.shiftKey });
  }

  // Goes to the next name that begins with the typed letters. One letter again and again goes through its names.
  typeAhead(event) {
    this.typedAt = event.timeStamp;
    this.typed += event.key;
    const repeated = [...this.typed].every((letter) => letter === this.typed[0]);
    let n = this.find(this.typed, this.typed.length > 1 ? 0 : 1);
    if (n < 0 && repeated) n = this.find(this.typed[0], 1);
    if (n >= 0) this.go(n);
  }

  find(text, from) {
    const [[name]] = this.columns;
    const order = this.rows.map((_row, n) => (this.current + from + n) % this.rows.length);
    return order.find((n) => beginsWith(this.rows[n][name], text)) ?? -1;
  }

  key(event) {
    if (event.target.closest("thead")) return; // the keys of a button
    if (event.timeStamp - this.typedAt > TYPING_PAUSE) this.typed = "";
    const options = { extend: event.shiftKey, keep: event.ctrlKey || event.metaKey };
    const last = this.rows.length - 1;
    const keys = {
      ArrowDown: () => this.go(this.current + 1, options),
      ArrowUp: () => this.go(this.current - 1, options),
      PageDown: () => this.go(this.current + 10, options),
      PageUp: () => this.go(this.current - 10, options),
      Home: () => this.go(0, options),
      End: () => this.go(last, options),
      " ": this.typed ? null : () => this.toggle(this.current), // names have spaces
      Enter: () => this.open(this.current),
      Backspace: () => this.model.send({ kind: "up" }),
      Delete: () => this.model.send({ kind: "key", key: "Delete" }),
      F2: () => this.model.send({ kind: "key", key: "F2" }),
      a: options.keep ? () => this.choose(this.rows) : null,
    };
    const letter = event.key.length === 1 && !options.keep ? () => this.typeAhead(event) : null;
    const handle = keys[event.key] ?? letter;
    if (event.altKey || !handle) return;
    event.preventDefault();
    event.stopPropagation();
    if (handle !== letter) this.typed = "";
    handle();
  }
}

function render({ model, el }) {
  const grid = new Grid(model, el);
  const draw = () => grid.draw();
  const drawHead = () => grid.drawHead();
  const mark = () => grid.mark();
  const handleMessage = (content) => {
    if (content.kind === "focus" && (!content.lost || focusIsLost())) grid.focus();
  };
  model.on("change:rows", draw);
  model.on("change:empty_message", draw);
  model.on("change:chosen", mark);
  model.on("change:sortable", drawHead);
  model.on("change:order", drawHead);
  model.on("msg:custom", handleMessage);
  drawHead();
  draw();
  return () => {
    model.off("change:rows", draw);
    model.off("change:empty_message", draw);
    model.off("change:chosen", mark);
    model.off("change:sortable", drawHead);
    model.off("change:order", drawHead);
    model.off("msg:custom", handleMessage);
  };
}

export default { render };
