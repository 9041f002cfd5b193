// Builds the cells of the grid and the buttons of the events. A cell has its day, and in the hours its minutes.

const LANES = 3; // events of a day in the month view; the others are in the day view

function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children); // strings become text nodes, so a title is never parsed as HTML
  return node;
}

function setStyle(node, values) {
  for (const [name, value] of Object.entries(values)) node.style.setProperty(`--svc-${name}`, value);
}

function rowsOf(days, columns) {
  return Array.from({ length: days.length / columns }, (_, n) => days.slice(n * columns, (n + 1) * columns));
}

function dayCell(day, state) {
  const cell = element("div", { role: "gridcell", class: "svc-cell", "data-day": day, tabindex: "-1" });
  if (day === state.today) cell.classList.add("svc-today");
  if ((dayNumber(day) + 3) % 7 > 4) cell.classList.add("svc-weekend");
  return cell;
}

function columnHeader(short, long, today) {
  const header = element("div", { role: "columnheader", "aria-label": long }, short);
  if (today) header.classList.add("svc-today");
  return header;
}

// The cells of a month with seven columns, or of a list of days with one.
function dayCells(state, columns) {
  const head = element("div", { role: "row", class: "svc-line-head" });
  for (const name of WEEKDAYS) head.append(columnHeader(name.slice(0, 3), name, false));
  const rows = rowsOf(state.days, columns).map((days) => {
    const cells = days.map((day) => {
      const cell = dayCell(day, state);
      if (state.month && day.slice(5, 7) !== state.month) cell.classList.add("svc-other");
      const number = Number(day.slice(8));
      const before = columns === 1 ? `${weekday(day).slice(0, 3)} ` : "";
      const after = number === 1 ? ` ${MONTHS[Number(day.slice(5, 7)) - 1].slice(0, 3)}` : "";
      cell.append(element("span", { class: "svc-number", "aria-hidden": "true" }, `${before}${number}${after}`));
      return cell;
    });
    return element("div", { role: "row", class: "svc-week" }, ...cells);
  });
  return columns === 1 ? rows : [head, ...rows];
}

function hourCells(state) {
  const head = element("div", { role: "row", class: "svc-line-head" }, columnHeader(element("span", { class: "svc-unseen" }, "Time"), "Time", false));
  for (const day of state.days) {
    const text = `${weekday(day).slice(0, 3)} ${Number(day.slice(8))}`;
    head.append(columnHeader(text, dayText(day), day === state.today));
  }
  const allDay = element("div", { role: "row", class: "svc-all-day" }, element("div", { role: "rowheader" }, "All day"));
  allDay.append(...state.days.map((day) => dayCell(day, state)));
  const hours = [];
  for (let minutes = 0; minutes < DAY_MINUTES; minutes += SLOT) {
    const label = element("span", minutes % 60 ? { class: "svc-unseen" } : {}, clock(minutes));
    const row = element("div", { role: "row", class: "svc-slot" }, element("div", { role: "rowheader" }, label));
    for (const day of state.days) {
      const cell = dayCell(day, state);
      cell.dataset.minutes = minutes;
      row.append(cell);
    }
    hours.push(row);
  }
  return [head, allDay, ...hours];
}

function eventButton(item, className) {
  const button = element("button", { type: "button", class: `svc-item ${className}`, "data-key": item.key, tabindex: "-1" });
  button.setAttribute("aria-label", item.label);
  button.title = item.label;
  setStyle(button, { color: item.color });
  if (item.tentative) button.classList.add("svc-tentative");
  if (item.proposed) button.classList.add("svc-proposed");
  const end = element("span", { class: "svc-until" }, `–${clock(item.end)}`);
  if (!item.bar) button.append(element("span", { class: "svc-time" }, clock(item.begin), end));
  button.append(element("span", { class: "svc-item-title" }, item.title));
  return button;
}

function handle(item) {
  return item.editable ? [element("span", { class: "svc-handle", "aria-hidden": "true" })] : [];
}

// A bar lies in its first cell, and reaches over the next ones.
function bar({ item, span, lane, before, after }) {
  const button = eventButton(item, item.bar ? "svc-bar" : "svc-entry");
  setStyle(button, { lane, span });
  if (before) button.classList.add("svc-before");
  if (after) button.classList.add("svc-after");
  else if (item.bar && item.allDay) button.append(...handle(item));
  return button;
}

function moreButton(day, count, unit = " more") {
  const label = `${count} more on ${dayText(day)}: show the day`;
  return element("button", { type: "button", class: "svc-rest", "data-rest": day, tabindex: "-1", "aria-label": label }, `+${count}${unit}`);
}

// Puts events into the cells of days. A day with more than `most` events has a button for the rest.
function addDayItems(items, days, cellOf, columns, most) {
  for (const row of rowsOf(days, columns)) {
    const placed = lanes(items, row);
    for (const each of placed.filter(({ lane }) => lane < most)) cellOf(row[each.from]).append(bar(each));
    row.forEach((day, n) => {
      const rest = placed.filter(({ lane, from, span }) => lane >= most && from <= n && n < from + span).length;
      if (rest) cellOf(day).append(moreButton(day, rest));
    });
  }
}

function addHourItems(items, days, cellOf, allDayRow) {
  const bars = lanes(items.filter((item) => item.bar), days);
  setStyle(allDayRow.parentElement, { lanes: Math.max(1, ...bars.map(({ lane }) => lane + 1)) });
  for (const each of bars) cellOf(days[each.from]).append(bar(each));
  for (const day of days) {
    const { parts, rests } = columns(items, day, cellOf(day).clientWidth || LEAST_WIDTH * LANES);
    for (const { begin, left, number } of rests) {
      const slot = Math.floor(begin / SLOT) * SLOT;
      const button = moreButton(day, number, "");
      setStyle(button, { top: (begin - slot) / SLOT, left });
      cellOf(day, slot).append(button);
    }
    for (const { item, begin, end, left, width, isCovered } of parts) {
      const slot = Math.floor(begin / SLOT) * SLOT;
      const button = eventButton(item, isCovered ? "svc-timed svc-covered" : "svc-timed");
      setStyle(button, { top: (begin - slot) / SLOT, height: (end - begin) / SLOT, left, width });
      if (item.last === day) button.append(...handle(item));
      cellOf(day, slot).append(button);
    }
  }
}

function cellLabel(cell, items) {
  const { day, minutes } = cell.dataset;
  if (minutes !== undefined) return `${dayText(day)}, ${clock(Number(minutes))}`;
  const count = items.filter((item) => item.first <= day && item.last >= day).length;
  return `${dayText(day)}, ${count === 0 ? "no events" : count === 1 ? "1 event" : `${count} events`}`;
}
