// Builds the cells of the grid and the buttons of the events. A cell has its day, and in the hours its minutes.

const LANES = 3; // events of a day in the month view; the others are in the day view

function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children); // strings become text nodes, so a title is never parsed as HTML
  return node;
}

function weeksOf(days) {
  return Array.from({ length: days.length / 7 }, (_, n) => days.slice(n * 7, n * 7 + 7));
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

function monthCells(state) {
  const head = element("div", { role: "row", class: "svc-line-head" });
  for (const name of WEEKDAYS) head.append(columnHeader(name.slice(0, 3), name, false));
  const rows = weeksOf(state.days).map((days) => {
    const cells = days.map((day) => {
      const cell = dayCell(day, state);
      if (day.slice(5, 7) !== state.month) cell.classList.add("svc-other");
      const number = Number(day.slice(8));
      const text = number === 1 ? `1 ${MONTHS[Number(day.slice(5, 7)) - 1].slice(0, 3)}` : String(number);
      cell.append(element("span", { class: "svc-number", "aria-hidden": "true" }, text));
      return cell;
    });
    return element("div", { role: "row", class: "svc-week" }, ...cells);
  });
  return [head, ...rows];
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
  button.style.setProperty("--svc-color", item.color);
  if (item.tentative) button.classList.add("svc-tentative");
  if (item.proposed) button.classList.add("svc-proposed");
  if (item.first === item.last && !item.bar) button.append(element("span", { class: "svc-time" }, clock(item.begin)));
  button.append(element("span", { class: "svc-item-title" }, item.title));
  return button;
}

function handle(item) {
  return item.editable ? [element("span", { class: "svc-handle", "aria-hidden": "true" })] : [];
}

// A bar lies in its first cell, and reaches over the next ones.
function bar({ item, span, lane, before, after }) {
  const button = eventButton(item, item.bar ? "svc-bar" : "svc-entry");
  button.style.setProperty("--svc-lane", lane);
  button.style.setProperty("--svc-span", span);
  if (before) button.classList.add("svc-before");
  if (after) button.classList.add("svc-after");
  else if (item.bar && item.allDay) button.append(...handle(item));
  return button;
}

function moreButton(day, count) {
  const label = `${count} more on ${dayText(day)}: show the day`;
  return element("button", { type: "button", class: "svc-rest", "data-rest": day, tabindex: "-1", "aria-label": label }, `+${count} more`);
}

// Puts events into the cells of a month. The last lane of a day with more events has a button for the rest.
function addMonthItems(items, days, cellOf) {
  for (const week of weeksOf(days)) {
    const placed = lanes(items, week);
    for (const each of placed.filter(({ lane }) => lane < LANES)) cellOf(week[each.from]).append(bar(each));
    week.forEach((day, n) => {
      const rest = placed.filter(({ lane, from, span }) => lane >= LANES && from <= n && n < from + span).length;
      if (rest) cellOf(day).append(moreButton(day, rest));
    });
  }
}

function addDayItems(items, days, cellOf, allDayRow) {
  const bars = lanes(items.filter((item) => item.bar), days);
  allDayRow.parentElement.style.setProperty("--svc-lanes", Math.max(1, ...bars.map(({ lane }) => lane + 1)));
  for (const each of bars) cellOf(days[each.from]).append(bar(each));
  for (const day of days) {
    for (const part of columns(items, day)) {
      const slot = Math.floor(part.begin / SLOT) * SLOT;
      const button = eventButton(part.item, "svc-timed");
      button.style.setProperty("--svc-top", (part.begin - slot) / SLOT);
      button.style.setProperty("--svc-height", (part.end - part.begin) / SLOT);
      button.style.setProperty("--svc-left", part.column / part.columns);
      button.style.setProperty("--svc-width", 1 / part.columns);
      if (part.item.last === day) button.append(...handle(part.item));
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
