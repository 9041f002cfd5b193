// Where the events lie: bars in lanes of a week, and timed events side by side in the column of a day.

const INDENT = 0.12; // of the width of a day, for an event that begins while another one lasts
const LEAST_WIDTH = 56; // pixels of an event beside others, of which more are behind a button
const REST_WIDTH = 24; // pixels of this button

function byTime(a, b) {
  return (
    Number(b.bar) - Number(a.bar) ||
    (a.first < b.first ? -1 : a.first > b.first ? 1 : 0) ||
    daysBetween(b.first, b.last) - daysBetween(a.first, a.last) ||
    a.begin - b.begin ||
    b.end - a.end ||
    a.title.localeCompare(b.title)
  );
}

// The events of consecutive days, each in the first lane that is free on all of its days. `from` is the index of the
// first day, `span` the number of days, `before` and `after` say whether the event goes on outside of these days.
function lanes(items, days) {
  const first = days[0];
  const last = days.at(-1);
  const taken = []; // a set of indexes of days for each lane
  return items
    .filter((item) => item.first <= last && item.last >= first)
    .sort(byTime)
    .map((item) => {
      const from = Math.max(0, daysBetween(first, item.first));
      const to = Math.min(days.length - 1, daysBetween(first, item.last));
      const indexes = Array.from({ length: to - from + 1 }, (_, n) => from + n);
      let lane = taken.findIndex((set) => indexes.every((index) => !set.has(index)));
      if (lane < 0) lane = taken.push(new Set()) - 1;
      for (const index of indexes) taken[lane].add(index);
      return { item, from, span: indexes.length, lane, before: item.first < first, after: item.last > last };
    });
}

// The parts of timed events on one day, with their place as parts of the width, which is in pixels. A part reaches over the
// parts to its right that begin below its line of text. If all parts of a group do, each is only indented. `rests` has the
// places of the parts for which there is no room.
function columns(items, day, width) {
  const parts = items
    .filter((item) => !item.bar && item.first <= day && item.last >= day)
    .map((item) => {
      const begin = item.first === day ? item.begin : 0;
      const end = item.last === day ? item.end : DAY_MINUTES;
      return { item, begin, end: Math.max(end, Math.min(begin + STEP, DAY_MINUTES)) };
    })
    .sort((a, b) => a.begin - b.begin || b.end - a.end || a.item.title.localeCompare(b.item.title));
  const rests = [];
  const shown = [];
  let group = [];
  let groupEnd = -1;
  const isBeside = (part, other) => other.column > part.column && other.end > part.begin && other.begin < part.begin + STEP;
  const close = () => {
    let count = Math.max(0, ...group.map((part) => part.column + 1));
    let right = 1;
    const isIndented = !group.some((part) => group.some((other) => isBeside(part, other)));
    if (!isIndented && count > Math.max(2, Math.floor(width / LEAST_WIDTH))) {
      count = Math.max(1, Math.floor((width - REST_WIDTH) / LEAST_WIDTH));
      right = 1 - REST_WIDTH / width;
      for (const { begin, end } of group.filter((part) => part.column >= count && !part.item.proposed)) {
        if (begin >= (rests.at(-1)?.end ?? 0)) rests.push({ begin, end, left: right, number: 0 });
        rests.at(-1).end = Math.max(end, rests.at(-1).end);
        rests.at(-1).number += 1;
      }
      group = group.filter((part) => part.column < count || part.item.proposed);
      for (const part of group) part.column = Math.min(part.column, count - 1);
    }
    const step = isIndented ? Math.min(INDENT, 1 / count) : right / count;
    for (const part of group) {
      const next = Math.min(count, ...group.filter((other) => isBeside(part, other)).map((other) => other.column));
      const isOver = (other) => other.column > part.column && other.column < next;
      part.isCovered = group.some((other) => isOver(other) && other.begin < Math.min(part.end, part.begin + SLOT));
      part.left = part.column * step;
      part.width = (next === count ? right : next * step) - part.left;
    }
    shown.push(...group);
    group = [];
  };
  for (const part of parts) {
    if (part.begin >= groupEnd) close();
    const busy = new Set(group.filter((other) => other.end > part.begin).map((other) => other.column));
    part.column = 0;
    while (busy.has(part.column)) part.column += 1;
    group.push(part);
    groupEnd = Math.max(part.begin >= groupEnd ? -1 : groupEnd, part.end);
  }
  close();
  return { parts: shown, rests };
}
