// The grid of the calendar view. The kernel sends the period and its events, and gets what a person does with them. One
// cell is the tab stop, and Tab goes on to the events of this cell. All text comes as text nodes.

const LIST_WIDTH = 580; // pixels; a narrower week is a list of days

class CalendarGridView {
  constructor(model, el) {
    this.model = model;
    this.drag = this.change = this.proposed = null;
    this.current = { day: "", minutes: null }; // the cell that is the tab stop
    this.wanted = null; // the day to focus in the next period
    this.clickIsOver = true;
    this.box = element("div", { role: "grid", class: "svc-cal" });
    this.live = element("div", { role: "status", class: "svc-unseen" });
    el.append(this.box, this.live);
    this.resized = new ResizeObserver(() => {
      if (this.layout !== this.chooseLayout()) this.draw();
      else if (this.hasHours && this.drawnWidth !== this.box.clientWidth) this.redraw();
      this.scroll();
    });
    this.resized.observe(this.box);
    this.box.addEventListener("pointerdown", (event) => this.press(event));
    this.box.addEventListener("click", (event) => this.click(event));
    this.box.addEventListener("dblclick", (event) => this.doubleClick(event));
    this.box.addEventListener("keydown", (event) => this.key(event));
    this.box.addEventListener("focusin", (event) => this.takeCurrent(event.target));
    this.box.addEventListener("focusout", (event) => {
      if (this.change && !this.box.contains(event.relatedTarget) && event.relatedTarget) this.change.end(false);
    });
  }

  get state() {
    return this.model.get("state");
  }

  get hasHours() {
    return this.layout === "hours";
  }

  // A narrow week is a list of days. The grid has no width while it is hidden.
  chooseLayout() {
    const { view } = this.state;
    const width = this.box.offsetWidth;
    if (view === "week") return width ? (width < LIST_WIDTH ? "list" : "hours") : (this.layout ?? "hours");
    return view === "month" ? "month" : "hours";
  }

  item(key) {
    return this.state.events.find((item) => item.key === key);
  }

  send(message) {
    this.model.send(message);
  }

  say(text) {
    this.live.textContent = text;
  }

  // -- what is drawn

  draw() {
    const { state } = this;
    if (!state.days) return;
    const focused = this.box.contains(document.activeElement) ? document.activeElement : null;
    const key = focused?.dataset.key;
    this.layout = this.chooseLayout();
    const shape = `${state.view} ${this.layout}`;
    const period = `${shape} ${state.days[0]}`;
    const scrolled = this.hasHours && this.shape === shape ? this.box.scrollTop : null;
    this.proposed = this.change = null;
    this.box.classList.remove("svc-changing");
    this.box.setAttribute("aria-label", `Calendar, ${state.title}`);
    this.box.className = `svc-cal svc-cal-${this.layout}`;
    const columns = this.layout === "list" ? 1 : Math.min(7, state.days.length);
    setStyle(this.box, { days: columns });
    if (this.period !== `${period} ${state.today}`) {
      this.box.replaceChildren(...(this.hasHours ? hourCells(state) : dayCells(state, columns)));
      this.period = `${period} ${state.today}`;
      this.shape = shape;
      this.chooseCurrent();
    }
    this.drawItems(state.events);
    if (this.hasHours && scrolled === null) this.isScrolled = false;
    this.scroll(scrolled);
    if (focused) this.restoreFocus(key);
  }

  drawItems(items) {
    this.items = items;
    this.drawnWidth = this.box.clientWidth;
    this.box.querySelectorAll(".svc-item, .svc-rest").forEach((node) => node.remove());
    const { days } = this.state;
    const cellOf = (day, minutes = null) => this.cell({ day, minutes });
    if (this.hasHours) addHourItems(items, days, cellOf, this.box.querySelector(".svc-all-day"));
    else if (this.layout === "list") addDayItems(items, days, cellOf, 1, Infinity);
    else addDayItems(items, days, cellOf, 7, LANES);
    for (const cell of this.box.querySelectorAll(".svc-cell")) cell.setAttribute("aria-label", cellLabel(cell, items));
    this.markNow();
    this.mark();
  }

  markNow() {
    this.box.querySelector(".svc-now")?.remove();
    const { today, minute } = this.state;
    const cell = this.hasHours && this.cell({ day: today, minutes: Math.floor(minute / SLOT) * SLOT });
    if (!cell) return;
    const line = element("span", { class: "svc-now", "aria-hidden": "true" });
    setStyle(line, { top: (minute % SLOT) / SLOT });
    cell.append(line);
  }

  // The grid has no size before JupyterLab shows it.
  scroll(position = null) {
    if (!this.hasHours || !this.box.clientHeight) return;
    if (position !== null) this.box.scrollTop = position;
    else if (!this.isScrolled) this.box.scrollTop = this.firstScroll();
    this.isScrolled = true;
  }

  // The hours begin before the first event, or at seven.
  firstScroll() {
    const begins = this.state.events.filter((item) => !item.bar).map((item) => item.begin);
    const minutes = Math.max(0, Math.floor(Math.min(7 * 60, ...begins) / SLOT) * SLOT - SLOT);
    const rows = [...this.box.querySelectorAll(".svc-slot")];
    return rows[minutes / SLOT].offsetTop - rows[0].offsetTop;
  }

  // Shows an event at other times, or a new one, instead of the event with this key.
  propose(item, key) {
    this.proposed = { ...item, proposed: true };
    const others = this.state.events.filter((each) => each.key !== key);
    this.drawItems([...others, this.proposed]);
    if (this.drag) this.say(spanText(item));
  }

  clearProposal() {
    this.proposed = null;
    this.redraw(this.state.events);
  }

  redraw(items = this.items) {
    const key = document.activeElement?.dataset?.key;
    this.drawItems(items);
    if (key !== undefined) this.focusItem(key);
  }

  // -- the cell and the event with the focus

  cell({ day, minutes }) {
    const time = minutes === null ? ":not([data-minutes])" : `[data-minutes="${Math.floor(minutes / SLOT) * SLOT}"]`;
    return this.box.querySelector(`.svc-cell[data-day="${day}"]${time}`);
  }

  itemsOf(place) {
    return [...(this.cell(place)?.querySelectorAll("button") ?? [])];
  }

  chooseCurrent() {
    const { days, today, view, month } = this.state;
    const inMonth = days.filter((day) => view !== "month" || day.slice(5, 7) === month);
    const day = [this.wanted?.day, this.current.day, today].find((each) => days.includes(each)) ?? inMonth[0];
    const minutes = this.wanted?.minutes ?? this.current.minutes ?? 9 * 60;
    this.current = { day, minutes: this.hasHours ? minutes : null };
  }

  mark() {
    for (const node of this.box.querySelectorAll("[tabindex]")) node.tabIndex = -1;
    const cell = this.cell(this.current);
    if (!cell) return;
    cell.tabIndex = 0;
    for (const button of this.itemsOf(this.current)) button.tabIndex = 0;
  }

  takeCurrent(target) {
    const cell = target.closest(".svc-cell");
    if (!cell) return;
    const { day, minutes } = cell.dataset;
    this.current = { day, minutes: minutes === undefined ? null : Number(minutes) };
    this.mark();
  }

  focusCell() {
    this.cell(this.current)?.focus();
  }

  focusItem(key) {
    (this.box.querySelector(`.svc-item[data-key="${CSS.escape(key)}"]`) ?? this.cell(this.current))?.focus();
  }

  restoreFocus(key) {
    this.wanted = null;
    if (key) this.focusItem(key);
    else this.focusCell();
  }

  focus() {
    if (this.lastKey && this.item(this.lastKey)) this.focusItem(this.lastKey);
    else this.focusCell();
  }

  // Moves the focus by days and minutes. The all-day cells are above midnight.
  go(days, minutes) {
    const { day, minutes: old } = this.current;
    let time = old;
    if (minutes) time = old === null ? (minutes > 0 ? 0 : null) : old + minutes < 0 ? null : Math.min(old + minutes, DAY_MINUTES - SLOT);
    const target = { day: addDays(day, days), minutes: time };
    if (this.state.days.includes(target.day)) {
      this.current = target;
      this.mark();
      this.focusCell();
    } else {
      this.wanted = target;
      this.send({ kind: "go", by: days > 0 ? 1 : -1 });
    }
  }

  page(periods) {
    const days = this.state.view === "month" ? 28 : this.state.days.length;
    this.wanted = { ...this.current, day: addDays(this.current.day, periods * days) };
    this.send({ kind: "go", by: periods });
  }

  create() {
    const { day, minutes } = this.current;
    const end = minutes === null ? null : Math.min(minutes + 60, DAY_MINUTES);
    this.lastKey = null;
    this.send({ kind: "create", first: day, last: day, begin: minutes, end });
  }

  // -- mouse and keys

  pointAt(x, y) {
    const nodes = this.box.getRootNode().elementsFromPoint(x, y);
    const cell = nodes.find((node) => node.matches(".svc-cell") && this.box.contains(node));
    if (!cell) return null;
    const { day, minutes } = cell.dataset;
    if (minutes === undefined) return { day, minutes: null };
    const { top, height } = cell.getBoundingClientRect();
    const part = Math.min(SLOT - STEP, Math.max(0, Math.floor(((y - top) / height) * (SLOT / STEP)) * STEP));
    return { day, minutes: Number(minutes) + part };
  }

  press(event) {
    if (event.button !== 0 || event.pointerType === "touch" || this.drag || this.change) return;
    const button = event.target.closest("button");
    if (button) event.stopPropagation(); // the form would capture the pointer for the button
    const item = button && this.item(button.dataset.key);
    if (button && !item?.editable) return;
    if (!button && !event.target.closest(".svc-cell")) return;
    this.clickIsOver = true;
    this.drag = new Drag(this, event, item, Boolean(event.target.closest(".svc-handle")));
  }

  ignoreClick() {
    this.clickIsOver = false;
    setTimeout(() => (this.clickIsOver = true)); // the click follows the end of the drag at once
  }

  click(event) {
    if (!this.clickIsOver) return;
    const button = event.target.closest("button");
    if (button?.dataset.rest) this.send({ kind: "day", day: button.dataset.rest });
    else if (button?.dataset.key) this.open(button.dataset.key);
    else event.target.closest(".svc-cell")?.focus();
  }

  open(key) {
    this.lastKey = key;
    this.send({ kind: "open", key });
  }

  doubleClick(event) {
    if (!event.target.closest("button") && event.target.closest(".svc-cell")) this.create();
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const { key, rest } = event.target.dataset;
    const item = key && this.item(key);
    if (item) this.lastKey = item.key;
    const isHandled = this.change
      ? this.change.key(event)
      : (item && itemKey(this, item, event)) || (!rest && !(key && event.key === "Enter") && cellKey(this, event));
    if (!isHandled) return;
    event.preventDefault();
    event.stopPropagation();
  }
}

// Enter in the title of a new event, and the buttons below it, send the title in the same message. The text field and a button
// would send two, of which the second can overtake the first.
function sendTitle(grid, event) {
  const panel = event.target.closest?.(".svc-new-event");
  if (!panel || !panel.closest(".svc-stage")?.contains(grid.box)) return;
  const field = panel.querySelector("input[type=text]");
  const button = event.type === "click" && event.target.closest("button");
  const isEnter = event.type === "keydown" && event.key === "Enter" && event.target === field;
  const key = isEnter || button?.matches?.(".svc-create") ? "create" : button?.matches?.(".svc-new-more") ? "more" : null;
  if (!key) return;
  event.preventDefault();
  event.stopPropagation();
  grid.send({ kind: "title", title: field.value, key });
}

function render({ model, el }) {
  const grid = new CalendarGridView(model, el);
  const draw = () => grid.draw();
  const focus = () => grid.focus();
  const titled = (event) => sendTitle(grid, event);
  model.on("change:state", draw);
  model.on("msg:custom", focus);
  for (const type of ["keydown", "click"]) document.addEventListener(type, titled, true);
  draw();
  return () => {
    grid.drag?.stop();
    grid.resized.disconnect();
    model.off("change:state", draw);
    model.off("msg:custom", focus);
    for (const type of ["keydown", "click"]) document.removeEventListener(type, titled, true);
  };
}

export default { render };
