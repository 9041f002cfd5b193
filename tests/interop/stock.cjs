// The tasks of a client in Node, unmodified: node stock.cjs KEY_FILE, with NODE_PATH, HTTPS_PROXY and NODE_EXTRA_CA_CERTS
const { auth, drive } = require("@googleapis/drive");
const { calendar } = require("@googleapis/calendar");
const { randomBytes } = require("node:crypto");
const { Readable } = require("node:stream");

(async () => {
  const scopes = ["drive", "calendar"].map((name) => `https://www.googleapis.com/auth/${name}`);
  const account = new auth.GoogleAuth({ keyFile: process.argv[2], scopes });
  const { files, about } = drive({ version: "v3", auth: account });
  const { events } = calendar({ version: "v3", auth: account });

  const content = randomBytes(700_000);
  const media = { mimeType: "image/png", body: Readable.from([content]) };
  const made = await files.create({ requestBody: { name: "Größe.bin" }, media, fields: "id,name,mimeType,size" });
  const get = async (headers) => {
    const response = await files.get({ fileId: made.data.id, alt: "media" }, { responseType: "arraybuffer", headers });
    return Buffer.from(response.data);
  };

  for (let number = 0; number < 4; number++) await files.create({ requestBody: { name: "listed" } });
  const names = [];
  let pageToken;
  do {
    const { data } = await files.list({ q: "name = 'listed'", pageSize: 3, pageToken, fields: "nextPageToken,files(id)" });
    names.push(...data.files);
    pageToken = data.nextPageToken;
  } while (pageToken);
  for (const { id } of names) await files.delete({ fileId: id });

  const lunch = await events.quickAdd({ calendarId: "primary", text: "Lunch 2026-11-05 12:00" });
  const all = await events.list({ calendarId: "primary" });
  await events.delete({ calendarId: "primary", eventId: lunch.data.id });
  const changed = await events.list({ calendarId: "primary", syncToken: all.data.nextSyncToken });

  const user = (await about.get({ fields: "user" })).data.user.emailAddress;
  console.log(JSON.stringify({
    "sign-in": user,
    upload: made.data.name === "Größe.bin" && made.data.size === "700000" && content.equals(await get({})),
    range: content.subarray(699_990).equals(await get({ Range: "bytes=699990-" })),
    pages: names.length === 4,
    events: lunch.data.summary === "Lunch",
    sync: changed.data.items[0].status === "cancelled",
  }));
})();
