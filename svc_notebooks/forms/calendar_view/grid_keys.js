// The keys of the grid. Arrow keys move between days and times, or move the event of a change that M, + or - has begun.

class KeyChange {
  constructor(grid, item) {
    this.grid = grid;
    this.item = item;
    this.change = { days: 0, minutes: 0, length: 0 };
    grid.box.classList.add("svc-changing");
  }

  add(part) {
    const next = { ...this.change };
    for (const [name, value] of Object.entries(part)) next[name] += value;
    if (lengthOf(this.item) + next.length <= 0) return;
    this.change = next;
    const moved = movedItem(this.item, next);
    this.grid.propose(moved, this.item.key);
    this.grid.focusItem(this.item.key);
    this.grid.say(spanText(moved));
  }

  end(saves) {
    this.grid.box.classList.remove("svc-changing");
    this.grid.change = null;
    const changed = Object.values(this.change).some(Boolean);
    if (saves && changed) this.grid.send({ kind: "change", key: this.item.key, ...this.change });
    else {
      this.grid.clearProposal();
      this.grid.say(saves ? "Not changed" : "Cancelled");
    }
  }

  key(event) {
    const step = this.item.allDay ? 1 : SLOT;
    const isTimed = this.grid.layout !== "month" && !this.item.bar;
    const vertical = isTimed ? { minutes: SLOT } : { days: 7 };
    const negative = (part) => Object.fromEntries(Object.entries(part).map(([name, value]) => [name, -value]));
    const keys = {
      ArrowLeft: () => this.add({ days: -1 }),
      ArrowRight: () => this.add({ days: 1 }),
      ArrowUp: () => this.add(negative(vertical)),
      ArrowDown: () => this.add(vertical),
      "+": () => this.add({ length: step }),
      "-": () => this.add({ length: -step }),
      Enter: () => this.end(true),
      Escape: () => this.end(false),
      Tab: null,
    };
    if (!(event.key in keys)) return false;
    if (event.key === "Tab") this.end(false);
    else keys[event.key]();
    return event.key !== "Tab";
  }
}

// What a key does at an event. False: the key is for the cell.
function itemKey(grid, item, event) {
  const neighbours = grid.itemsOf(grid.current);
  const n = neighbours.findIndex((button) => button.dataset.key === item.key);
  const begin = (part) => () => {
    if (!item.editable) return grid.say("You can only read this calendar");
    grid.change = new KeyChange(grid, item);
    grid.change.add(part);
    grid.say(`Moving ${item.title}. ${spanText(movedItem(item, grid.change.change))}. Arrow keys move, plus and minus change the length, Enter saves, Escape cancels`);
  };
  const step = item.allDay ? 1 : SLOT;
  const keys = {
    Enter: () => grid.send({ kind: "open", key: item.key }),
    " ": () => grid.send({ kind: "open", key: item.key }),
    m: begin({}),
    M: begin({}),
    "+": begin({ length: step }),
    "-": begin({ length: -step }),
    Delete: () => grid.send({ kind: "delete", key: item.key }),
    Escape: () => grid.focusCell(),
    ArrowDown: n + 1 < neighbours.length ? () => neighbours[n + 1].focus() : null,
    ArrowUp: n > 0 ? () => neighbours[n - 1].focus() : () => grid.focusCell(),
  };
  return run(keys[event.key]);
}

// What a key does at a cell.
function cellKey(grid, event) {
  const [days, minutes] = { month: [7, 0], list: [1, 0], hours: [0, SLOT] }[grid.layout];
  const keys = {
    ArrowLeft: () => grid.go(-1, 0),
    ArrowRight: () => grid.go(1, 0),
    ArrowUp: () => grid.go(-days, -minutes),
    ArrowDown: () => grid.go(days, minutes),
    PageUp: () => grid.page(-1),
    PageDown: () => grid.page(1),
    Home: () => grid.go(-((dayNumber(grid.current.day) + 3) % 7), 0),
    End: () => grid.go(6 - ((dayNumber(grid.current.day) + 3) % 7), 0),
    Enter: () => grid.create(),
    " ": () => grid.create(),
  };
  return run(keys[event.key]);
}

function run(handler) {
  if (!handler) return false;
  handler();
  return true;
}
