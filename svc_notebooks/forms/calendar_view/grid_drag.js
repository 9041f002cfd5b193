// Drags with the mouse: an event to another time, its end, or over empty time. Escape cancels. A finger scrolls instead,
// and opens and creates by taps.

const DRAG_DISTANCE = 5; // pixels that the mouse moves before a click becomes a drag

class Drag {
  constructor(grid, event, item, resizes) {
    this.grid = grid;
    this.item = item; // null: a new event
    this.resizes = resizes;
    this.x = event.clientX;
    this.y = event.clientY;
    this.origin = grid.pointAt(this.x, this.y);
    this.proposal = null;
    this.active = false;
    this.listeners = { pointermove: (e) => this.move(e), pointerup: (e) => this.drop(e), pointercancel: () => this.cancel() };
    this.keys = (e) => {
      if (e.key !== "Escape") return;
      e.preventDefault();
      e.stopPropagation();
      this.cancel();
    };
    for (const [name, listener] of Object.entries(this.listeners)) window.addEventListener(name, listener);
    window.addEventListener("keydown", this.keys, true);
  }

  move(event) {
    if (!this.active && Math.hypot(event.clientX - this.x, event.clientY - this.y) < DRAG_DISTANCE) return;
    this.active = true;
    this.grid.box.classList.add(this.resizes ? "svc-resizing" : "svc-dragging");
    const point = this.grid.pointAt(event.clientX, event.clientY);
    if (point) this.propose(point);
    event.preventDefault();
  }

  propose(point) {
    const proposal = this.item === null ? this.range(point) : this.change(point);
    if (JSON.stringify(proposal) === JSON.stringify(this.proposal)) return;
    this.proposal = proposal;
    this.grid.propose(this.item === null ? newItem(proposal) : movedItem(this.item, proposal), this.item?.key);
  }

  // The days and minutes of a new event between two points. In the hours it stays on the day where it began.
  range(point) {
    const { day, minutes } = this.origin;
    if (minutes === null) {
      const [first, last] = [day, point.day].sort();
      return { first, last, begin: null, end: null };
    }
    const other = point.minutes ?? minutes;
    return { first: day, last: day, begin: Math.min(minutes, other), end: Math.max(minutes, other) + STEP };
  }

  change(point) {
    const days = daysBetween(this.origin.day, point.day);
    if (!this.resizes) return { days, minutes: 0, length: 0, ...this.timeChange(point) };
    if (this.item.allDay) return { days: 0, minutes: 0, length: Math.max(days, 1 - lengthOf(this.item)) };
    const end = daysBetween(this.item.first, point.day) * DAY_MINUTES + (point.minutes ?? this.item.end) + STEP;
    return { days: 0, minutes: 0, length: Math.max(end - this.item.begin, STEP) - lengthOf(this.item) };
  }

  // The change of the time of day. Between the all-day row and the hours, an event becomes an all-day event or a timed one.
  timeChange({ day, minutes }) {
    const { item, origin } = this;
    if (item.allDay) return minutes === null ? {} : { days: daysBetween(item.first, day), minutes, allDay: false };
    if (item.bar || origin.minutes === null) return {};
    return minutes === null ? { allDay: true } : { minutes: minutes - origin.minutes };
  }

  drop() {
    this.stop();
    if (!this.active) return;
    this.grid.ignoreClick();
    this.grid.lastKey = this.item?.key;
    const unchanged = this.item && Object.values(this.proposal ?? {}).every((value) => value === 0);
    if (!this.proposal || unchanged) this.grid.clearProposal();
    else if (this.item === null) this.grid.send({ kind: "create", ...this.proposal });
    else this.grid.send({ kind: "change", key: this.item.key, ...this.proposal });
  }

  cancel() {
    this.stop();
    this.grid.ignoreClick();
    this.grid.clearProposal();
    this.grid.say("Cancelled");
  }

  stop() {
    for (const [name, listener] of Object.entries(this.listeners)) window.removeEventListener(name, listener);
    window.removeEventListener("keydown", this.keys, true);
    this.grid.box.classList.remove("svc-dragging", "svc-resizing");
    this.grid.drag = null;
  }
}

function newItem({ first, last, begin, end }) {
  const times = begin === null ? { begin: 0, end: DAY_MINUTES, allDay: true, bar: true } : { begin, end, allDay: false, bar: false };
  const item = { key: "", title: "New event", color: "var(--svc-accent, #1565c0)", editable: false, first, last, ...times };
  return { ...item, label: `New event, ${spanText(item)}` };
}
