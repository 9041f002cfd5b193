-- a store of commit 7af5d85 that commit 1e9082d has opened: one user, two files, an upload under way, two events.
BEGIN TRANSACTION;
CREATE TABLE accounts (
  email TEXT NOT NULL,
  client TEXT NOT NULL,
  key_id TEXT NOT NULL,
  public_key TEXT NOT NULL,
  delegation TEXT NOT NULL,
  PRIMARY KEY (email)
);
CREATE TABLE authorities (
  pem TEXT NOT NULL,
  PRIMARY KEY (pem)
);
CREATE TABLE calendar_access (
  calendar TEXT NOT NULL,
  scope TEXT NOT NULL,
  role INTEGER NOT NULL,
  PRIMARY KEY (calendar, scope)
);
CREATE TABLE calendars (
  id TEXT NOT NULL,
  owner TEXT NOT NULL,
  client TEXT NOT NULL,
  zone TEXT NOT NULL,
  created INTEGER NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (id)
);
INSERT INTO "calendars" VALUES('ada@svc.example','ada@svc.example','','UTC',1795344595216,'{"summary": "ada@svc.example"}');
CREATE TABLE changes (
  seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  user TEXT NOT NULL,
  file TEXT NOT NULL,
  time INTEGER NOT NULL,
  UNIQUE (user, file)
);
INSERT INTO "changes" VALUES(1,'ada@svc.example','16r4oXZ7X1BVgD6pXAji1HFRF84emMB75',1795344595188);
INSERT INTO "changes" VALUES(2,'ada@svc.example','1FDBnG5MQ-tytTx9jYo7heoYraVf7pMzu',1795344595189);
CREATE TABLE channels (
  seq INTEGER NOT NULL,
  id TEXT NOT NULL,
  watched TEXT NOT NULL,
  resource_id TEXT NOT NULL,
  resource_uri TEXT NOT NULL,
  of_changes INTEGER NOT NULL,
  user TEXT NOT NULL,
  client TEXT NOT NULL,
  service_account INTEGER NOT NULL,
  address TEXT NOT NULL,
  token TEXT,
  expiration INTEGER,
  state TEXT NOT NULL,
  number INTEGER NOT NULL,
  PRIMARY KEY (seq),
  UNIQUE (id)
);
CREATE TABLE clients (
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  secret TEXT NOT NULL,
  redirects TEXT NOT NULL,
  PRIMARY KEY (id)
);
CREATE TABLE contents (
  id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  md5 TEXT,
  sha1 TEXT,
  sha256 TEXT
);
INSERT INTO "contents" VALUES(1,NULL,NULL,NULL);
INSERT INTO "contents" VALUES(2,NULL,NULL,NULL);
INSERT INTO "contents" VALUES(3,NULL,NULL,NULL);
CREATE TABLE domains (
  domain TEXT NOT NULL,
  PRIMARY KEY (domain)
);
CREATE TABLE events (
  seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  calendar TEXT NOT NULL,
  id TEXT NOT NULL,
  uid TEXT NOT NULL,
  origin TEXT NOT NULL,
  series TEXT,
  recurring INTEGER NOT NULL,
  cancelled INTEGER NOT NULL,
  start INTEGER NOT NULL,
  "end" INTEGER,
  created INTEGER NOT NULL,
  updated INTEGER NOT NULL,
  body TEXT NOT NULL,
  UNIQUE (calendar, id)
);
INSERT INTO "events" VALUES(1,'ada@svc.example','kmc7uu4fcqqj4rb8v4tdmh0nm1','kmc7uu4fcqqj4rb8v4tdmh0nm1@svc.example','ada@svc.example',NULL,0,0,1772359200000,1772362800000,1795344595220,1795344595220,'{"summary": "e0", "start": {"dateTime": "2026-03-01T10:00:00Z"}, "end": {"dateTime": "2026-03-01T11:00:00Z"}, "creator": {"email": "ada@svc.example"}, "organizer": {"email": "ada@svc.example"}}');
INSERT INTO "events" VALUES(2,'ada@svc.example','57gk220vk1f0egurquq5o59s40','57gk220vk1f0egurquq5o59s40@svc.example','ada@svc.example',NULL,0,0,1772445600000,1772449200000,1795344595222,1795344595222,'{"summary": "e1", "start": {"dateTime": "2026-03-02T10:00:00Z"}, "end": {"dateTime": "2026-03-02T11:00:00Z"}, "creator": {"email": "ada@svc.example"}, "organizer": {"email": "ada@svc.example"}}');
CREATE TABLE files (
  seq INTEGER NOT NULL,
  id TEXT NOT NULL,
  owner TEXT NOT NULL,
  parent TEXT,
  name TEXT NOT NULL,
  mime_type TEXT NOT NULL,
  created INTEGER NOT NULL,
  modified INTEGER NOT NULL,
  modified_by_me INTEGER,
  viewed INTEGER,
  trashed INTEGER NOT NULL,
  explicitly_trashed INTEGER NOT NULL,
  trashed_at INTEGER,
  starred INTEGER NOT NULL,
  content INTEGER,
  size INTEGER,
  version INTEGER NOT NULL,
  abusive INTEGER NOT NULL,
  target TEXT,
  extra TEXT NOT NULL,
  name_key TEXT NOT NULL,
  natural_key TEXT NOT NULL,
  words TEXT NOT NULL,
  all_words TEXT NOT NULL,
  PRIMARY KEY (seq),
  UNIQUE (id)
);
INSERT INTO "files" VALUES(1,'0AuSSALqEqEydLtc4lUk9PVA','ada@svc.example',NULL,'My files','application/vnd.svc-apps.folder',1795344595173,1795344595173,1795344595173,NULL,0,0,NULL,0,NULL,NULL,1,0,NULL,'{}','my files','my files',' my files',' my files');
INSERT INTO "files" VALUES(2,'16r4oXZ7X1BVgD6pXAji1HFRF84emMB75','ada@svc.example','0AuSSALqEqEydLtc4lUk9PVA','Untitled','text/plain',1795344595187,1795344595187,1795344595187,NULL,0,0,NULL,0,1,100,1,0,NULL,'{"originalFilename": "Untitled"}','untitled','untitled',' untitled',' untitled');
INSERT INTO "files" VALUES(3,'1FDBnG5MQ-tytTx9jYo7heoYraVf7pMzu','ada@svc.example','0AuSSALqEqEydLtc4lUk9PVA','Untitled','text/plain',1795344595189,1795344595189,1795344595189,NULL,0,0,NULL,0,2,100,1,0,NULL,'{"originalFilename": "Untitled"}','untitled','untitled',' untitled',' untitled');
CREATE TABLE generated (
  id TEXT NOT NULL,
  owner TEXT NOT NULL,
  used INTEGER NOT NULL,
  PRIMARY KEY (id)
);
CREATE TABLE granted (
  token TEXT NOT NULL,
  family TEXT NOT NULL,
  PRIMARY KEY (token)
);
CREATE TABLE grants (
  digest TEXT NOT NULL,
  kind TEXT NOT NULL,
  family TEXT NOT NULL,
  user TEXT NOT NULL,
  client TEXT NOT NULL,
  scopes TEXT NOT NULL,
  expires FLOAT,
  redirect TEXT NOT NULL,
  challenge TEXT NOT NULL,
  method TEXT NOT NULL,
  spent INTEGER NOT NULL,
  PRIMARY KEY (digest)
);
CREATE TABLE invitations (
  seq INTEGER NOT NULL,
  time INTEGER NOT NULL,
  event TEXT NOT NULL,
  recipient TEXT NOT NULL,
  method TEXT NOT NULL,
  subject TEXT NOT NULL,
  PRIMARY KEY (seq)
);
CREATE TABLE messages (
  seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  channel INTEGER NOT NULL,
  number INTEGER NOT NULL,
  state TEXT NOT NULL,
  changed TEXT NOT NULL,
  due INTEGER NOT NULL,
  attempts INTEGER NOT NULL
);
CREATE TABLE meta (
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (name)
);
INSERT INTO "meta" VALUES('openings','2');
INSERT INTO "meta" VALUES('secret','HKFaDiDnyZxBGMfc8gmB44mXaRT8Hb7pGUB-G-E1');
CREATE TABLE opened (
  file TEXT NOT NULL,
  client TEXT NOT NULL,
  PRIMARY KEY (file, client)
);
CREATE TABLE permissions (
  file TEXT NOT NULL,
  id TEXT NOT NULL,
  type TEXT NOT NULL,
  grantee TEXT NOT NULL,
  role INTEGER NOT NULL,
  since INTEGER NOT NULL,
  "by" TEXT NOT NULL,
  PRIMARY KEY (file, id)
);
CREATE TABLE properties (
  file TEXT NOT NULL,
  client TEXT NOT NULL,
  "key" TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (file, client, "key")
);
CREATE TABLE rope (
  content INTEGER NOT NULL,
  start INTEGER NOT NULL,
  stop INTEGER NOT NULL,
  part TEXT NOT NULL,
  PRIMARY KEY (content, start)
);
INSERT INTO "rope" VALUES(1,0,100,'b1216986858b456ca244e94c0bdded95');
INSERT INTO "rope" VALUES(2,0,100,'d9119eb66d4c47eba012f9418471af43');
INSERT INTO "rope" VALUES(3,0,262144,'673fcaa63b2645b4bc4e20ce9e6c3000');
CREATE TABLE sessions (
  id TEXT NOT NULL,
  owner TEXT NOT NULL,
  client TEXT NOT NULL,
  file TEXT,
  metadata TEXT NOT NULL,
  media_type TEXT,
  "query" TEXT NOT NULL,
  content INTEGER NOT NULL,
  stored INTEGER NOT NULL,
  total INTEGER,
  state TEXT NOT NULL,
  touched FLOAT NOT NULL,
  generation INTEGER NOT NULL,
  answer TEXT,
  PRIMARY KEY (id)
);
INSERT INTO "sessions" VALUES('AEuu2KMx4vwS-qSq9o3Ptbh2qS8YXew6nzwLnJCfIlL6-3PwGs0dOIv8GMglXf2Zx-','ada@svc.example','notebook',NULL,'{"name": "half"}',NULL,'',3,262144,600000,'open',1.79534459520838308339e+09,1,NULL);
CREATE TABLE tokens (
  digest TEXT NOT NULL,
  user TEXT NOT NULL,
  client TEXT NOT NULL,
  scopes TEXT NOT NULL,
  service_account INTEGER NOT NULL,
  expires FLOAT,
  PRIMARY KEY (digest)
);
INSERT INTO "tokens" VALUES('e632b7095b0bf32c260fa4c539e9fd7b852d0de454e9be26f24d0d6f91d069d3','ada@svc.example','notebook','storage storage.appdata storage.apps.readonly storage.file storage.meet.readonly storage.metadata storage.metadata.readonly storage.photos.readonly storage.readonly storage.scripts calendar calendar.acls calendar.acls.readonly calendar.app.created calendar.calendarlist calendar.calendarlist.readonly calendar.calendars calendar.calendars.readonly calendar.events calendar.events.owned calendar.events.owned.readonly calendar.events.readonly calendar.readonly',0,NULL);
CREATE TABLE users (
  email TEXT NOT NULL,
  root TEXT NOT NULL,
  PRIMARY KEY (email)
);
INSERT INTO "users" VALUES('ada@svc.example','0AuSSALqEqEydLtc4lUk9PVA');
CREATE INDEX files_by_parent ON files (parent);
CREATE INDEX files_by_owner ON files (owner, seq);
CREATE INDEX files_by_name ON files (owner, name_key);
CREATE INDEX files_by_content ON files (content);
CREATE INDEX sessions_by_age ON sessions (touched);
CREATE INDEX permissions_by_grantee ON permissions (grantee);
CREATE INDEX channels_by_watched ON channels (watched, state);
CREATE INDEX messages_by_channel ON messages (channel, seq);
CREATE INDEX messages_by_due ON messages (due);
CREATE INDEX changes_by_user ON changes (user, seq);
CREATE INDEX calendars_by_owner ON calendars (owner);
CREATE INDEX calendar_access_by_scope ON calendar_access (scope);
CREATE INDEX events_by_age ON events (calendar, created, id);
CREATE INDEX events_by_start ON events (calendar, start);
CREATE INDEX events_by_uid ON events (uid);
CREATE INDEX events_by_series ON events (calendar, series);
CREATE INDEX grants_by_family ON grants (family);
CREATE INDEX granted_by_family ON granted (family);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('contents',3);
INSERT INTO "sqlite_sequence" VALUES('changes',2);
INSERT INTO "sqlite_sequence" VALUES('events',2);
COMMIT;
