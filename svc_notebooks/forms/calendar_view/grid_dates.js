// Days are texts such as 2026-11-02, and times are minutes since midnight. All of them are in the time zone of the view,
// so that the time zone of the browser does not matter. The other parts of the script are grid_layout.js and so on.

const DAY_MINUTES = 24 * 60;
const SLOT = 30; // minutes of a row in the week and day views
const STEP = 15; // minutes to which a drag snaps
const WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const MONTHS = [
  ...["January", "February", "March", "April", "May", "June"],
  ...["July", "August", "September", "October", "November", "December"],
];

function dayNumber(day) {
  return Math.round(Date.parse(`${day}T00:00Z`) / 86_400_000);
}

function addDays(day, count) {
  return new Date((dayNumber(day) + count) * 86_400_000).toISOString().slice(0, 10);
}

function daysBetween(first, last) {
  return dayNumber(last) - dayNumber(first);
}

function weekday(day) {
  return WEEKDAYS[(dayNumber(day) + 3) % 7];
}

function dayText(day) {
  const [year, month, number] = day.split("-").map(Number);
  return `${weekday(day)} ${number} ${MONTHS[month - 1]} ${year}`;
}

function clock(minutes) {
  return `${String(Math.floor(minutes / 60)).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`;
}

// The days and times of an event in words.
function spanText(item) {
  const days = item.first === item.last ? dayText(item.first) : `${dayText(item.first)} to ${dayText(item.last)}`;
  if (item.allDay) return days;
  if (item.first === item.last) return `${days}, ${clock(item.begin)} to ${clock(item.end)}`;
  return `${dayText(item.first)}, ${clock(item.begin)} to ${dayText(item.last)}, ${clock(item.end)}`;
}

// An event after a move of its start by days and minutes, and with another length in minutes, or days if it is all day.
// `allDay` makes a timed event an all-day event, or an all-day event one of an hour.
function movedItem(original, { days, minutes, length, allDay = original.allDay }) {
  const item = original.allDay && !allDay ? { ...original, allDay, last: original.first, begin: 0, end: 60 } : original;
  if (allDay) return { ...item, allDay, bar: true, first: addDays(item.first, days), last: addDays(item.last, days + length) };
  const begin = item.begin + days * DAY_MINUTES + minutes;
  const end = daysBetween(item.first, item.last) * DAY_MINUTES + item.end + days * DAY_MINUTES + minutes + length;
  const last = end > begin && end % DAY_MINUTES === 0 ? end - 1 : end; // midnight is the end of the day before
  const firstDay = Math.floor(begin / DAY_MINUTES);
  const lastDay = Math.floor(last / DAY_MINUTES);
  return {
    ...item,
    first: addDays(item.first, firstDay),
    last: addDays(item.first, lastDay),
    begin: begin - firstDay * DAY_MINUTES,
    end: end - lastDay * DAY_MINUTES,
    bar: end - begin >= DAY_MINUTES,
  };
}

// The length of an event in minutes, or in days if it is all day.
function lengthOf(item) {
  const days = daysBetween(item.first, item.last);
  return item.allDay ? days + 1 : days * DAY_MINUTES + item.end - item.begin;
}
