// Prints the first instances of the first event of an iCalendar file, as seconds since 1970, read by ical.js.
const ICAL = require("ical.js");
const calendar = new ICAL.Component(ICAL.parse(require("fs").readFileSync(0, "utf-8")));
for (const zone of calendar.getAllSubcomponents("vtimezone")) {
  ICAL.TimezoneService.register(new ICAL.Timezone(zone));
}
const instances = new ICAL.Event(calendar.getFirstSubcomponent("vevent")).iterator();
const seconds = [];
for (let next = instances.next(); next && seconds.length < 400; next = instances.next()) {
  seconds.push(next.toUnixTime());
}
console.log(JSON.stringify(seconds));
