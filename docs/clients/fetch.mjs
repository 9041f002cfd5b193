// Ten tasks with fetch, in Node 20 or later. SVC_BASE_URL is the address of the service, SVC_TOKEN an access token,
// and SVC_RECEIVER the HTTPS address of a receiver of notifications.
const { SVC_BASE_URL: base, SVC_TOKEN: token, SVC_RECEIVER: receiver } = process.env;
const files = `${base}/storage/v3/files`;
const upload = `${base}/upload/storage/v3/files`;
const events = `${base}/calendar/v3/calendars/primary/events`;

async function send(method, url, { headers = {}, json, body } = {}) {
  const type = json ? { "Content-Type": "application/json; charset=UTF-8" } : {};
  const all = { Authorization: `Bearer ${token}`, ...type, ...headers };
  return fetch(url, { method, headers: all, body: json ? JSON.stringify(json) : body });
}

async function get(method, url, options) {
  const response = await send(method, url, options);
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${text}`);
  return text.startsWith("{") ? JSON.parse(text) : text;
}

// 1. Sign in: the token says who you are.
const { user } = await get("GET", `${base}/storage/v3/about?fields=user`);
console.log(1, user.emailAddress);

// 2. Upload content without metadata.
const note = await get("POST", `${upload}?uploadType=media`, {
  headers: { "Content-Type": "text/plain" },
  body: "Feed the ducks.",
});
console.log(2, note.name);

// 3. Upload content with metadata, as the two parts of one body. FormData would be multipart/form-data.
function related(metadata, type, content) {
  const head = "Content-Type: application/json; charset=UTF-8";
  const parts = [head, "", JSON.stringify(metadata), "--part", `Content-Type: ${type}`, "", content];
  return get("POST", `${upload}?uploadType=multipart`, {
    headers: { "Content-Type": "multipart/related; boundary=part" },
    body: ["--part", ...parts, "--part--", ""].join("\r\n"),
  });
}
const table = "species,count\nmallard,12\n";
const ducks = await related({ name: "ducks.csv" }, "text/csv", table);
console.log(3, ducks.name);

// 4. Upload a large file in chunks. After an interruption, ask how many bytes are stored, and send the rest.
async function resumable(metadata, content) {
  const begun = await send("POST", `${upload}?uploadType=resumable`, { json: metadata });
  const session = begun.headers.get("Location");
  let failures = 0;
  let next = null; // the first byte that the service lacks, or null while this is not known
  for (;;) {
    const chunk = next === null ? new Uint8Array() : content.slice(next, next + 262144);
    const range = next === null ? "*" : `${next}-${next + chunk.length - 1}`;
    const headers = { "Content-Range": `bytes ${range}/${content.length}` };
    const response = await send("PUT", session, { headers, body: chunk }).catch(() => null);
    if (response?.status === 308) {
      const stored = response.headers.get("Range"); // "bytes=0-262143", or null without stored bytes
      next = stored ? Number(stored.split("-")[1]) + 1 : 0;
    } else if (response?.ok) {
      return response.json();
    } else if (response === null || response.status === 403 || response.status >= 500) {
      if (++failures > 5) throw new Error("the upload fails again and again");
      await new Promise((done) => setTimeout(done, 100 * 2 ** failures));
      next = null;
    } else {
      throw new Error(`the upload session answers ${response.status}`);
    }
  }
}
const film = await resumable({ name: "film.bin" }, new Uint8Array(700000));
console.log(4, (await get("GET", `${files}/${film.id}?fields=size`)).size);

// 5. Convert on import: the media type in the metadata is that of a native document.
const native = "application/vnd.svc-apps.spreadsheet";
const sheet = await related({ name: "Ducks", mimeType: native }, "text/csv", table);
console.log(5, sheet.mimeType);

// 6. Download a range of bytes.
console.log(6, await get("GET", `${files}/${ducks.id}?alt=media`, { headers: { Range: "bytes=0-6" } }));

// 7. Export the native document.
const exported = await get("GET", `${files}/${sheet.id}/export?mimeType=text/tab-separated-values`);
console.log(7, exported.trim().split("\r\n").at(-1));

// 8. List with a query, page by page.
const found = [];
let pages = 0;
let pageToken = "";
do {
  const query = { q: "name contains 'ducks' and trashed = false", pageSize: 1, ...(pageToken && { pageToken }) };
  const page = await get("GET", `${files}?${new URLSearchParams(query)}`);
  found.push(...page.files);
  pages += 1;
  pageToken = page.nextPageToken;
} while (pageToken);
console.log(8, `${found.length} files on ${pages} pages`);

// 9. Watch a file. The receiver gets "sync" now, and "update" after the change. The channel expires in an hour.
const channel = await get("POST", `${files}/${ducks.id}/watch`, {
  json: { id: crypto.randomUUID(), type: "web_hook", address: receiver },
});
await get("PATCH", `${files}/${ducks.id}`, { json: { description: "counted" } });
console.log(9, channel.kind);

// 10. Create a recurring event, and change it only if nobody else has changed it.
const event = await get("POST", events, {
  json: {
    summary: "Count ducks",
    recurrence: ["RRULE:FREQ=WEEKLY;COUNT=8"],
    start: { dateTime: "2026-11-02T10:00:00", timeZone: "Europe/Berlin" },
    end: { dateTime: "2026-11-02T11:00:00", timeZone: "Europe/Berlin" },
  },
});
const statuses = [];
for (const summary of ["Count all ducks", "Count no ducks"]) {
  const headers = { "If-Match": event.etag };
  statuses.push((await send("PATCH", `${events}/${event.id}`, { headers, json: { summary } })).status);
}
console.log(10, ...statuses);
