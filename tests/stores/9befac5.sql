-- a store of commit 9befac5: one user, two files, an upload under way, two events.
BEGIN TRANSACTION;
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
INSERT INTO "calendars" VALUES('ada@svc.example','ada@svc.example','','UTC',1795344603828,'{"summary": "ada@svc.example"}');
CREATE TABLE changes (
  seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  user TEXT NOT NULL,
  file TEXT NOT NULL,
  time INTEGER NOT NULL,
  UNIQUE (user, file)
);
INSERT INTO "changes" VALUES(1,'ada@svc.example','10OFTwxHI03KNN-gkNcc5gHY3Rjyo1ARO',1795344603797);
INSERT INTO "changes" VALUES(2,'ada@svc.example','1tGMsutPw93NBjBX4CwOt5b0oOjhDKU3n',1795344603809);
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
  place INTEGER NOT NULL,
  body TEXT NOT NULL,
  UNIQUE (calendar, id)
);
INSERT INTO "events" VALUES(1,'ada@svc.example','37o550onoh9u1t60k0k190dbkv','37o550onoh9u1t60k0k190dbkv@svc.example','ada@svc.example',NULL,0,0,1772359200000,1772362800000,1795344603829,1795344603829,1,'{"summary": "e0", "start": {"dateTime": "2026-03-01T10:00:00Z"}, "end": {"dateTime": "2026-03-01T11:00:00Z"}, "creator": {"email": "ada@svc.example"}, "organizer": {"email": "ada@svc.example"}}');
INSERT INTO "events" VALUES(2,'ada@svc.example','u9h267b0hovqtohlpn5e9ej6u0','u9h267b0hovqtohlpn5e9ej6u0@svc.example','ada@svc.example',NULL,0,0,1772445600000,1772449200000,1795344603834,1795344603834,2,'{"summary": "e1", "start": {"dateTime": "2026-03-02T10:00:00Z"}, "end": {"dateTime": "2026-03-02T11:00:00Z"}, "creator": {"email": "ada@svc.example"}, "organizer": {"email": "ada@svc.example"}}');
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
INSERT INTO "files" VALUES(1,'0AJXXj7-MiZ-HZ271hUk9PVA','ada@svc.example',NULL,'My files','application/vnd.svc-apps.folder',1795344603793,1795344603793,1795344603793,NULL,0,0,NULL,0,NULL,NULL,1,0,NULL,'{}','my files','my files',' my files',' my files');
INSERT INTO "files" VALUES(2,'10OFTwxHI03KNN-gkNcc5gHY3Rjyo1ARO','ada@svc.example','0AJXXj7-MiZ-HZ271hUk9PVA','Untitled','text/plain',1795344603797,1795344603797,1795344603797,NULL,0,0,NULL,0,1,100,1,0,NULL,'{"originalFilename": "Untitled"}','untitled','untitled',' untitled',' untitled');
INSERT INTO "files" VALUES(3,'1tGMsutPw93NBjBX4CwOt5b0oOjhDKU3n','ada@svc.example','0AJXXj7-MiZ-HZ271hUk9PVA','Untitled','text/plain',1795344603808,1795344603809,1795344603809,NULL,0,0,NULL,0,2,100,1,0,NULL,'{"originalFilename": "Untitled"}','untitled','untitled',' untitled',' untitled');
CREATE TABLE generated (
  id TEXT NOT NULL,
  owner TEXT NOT NULL,
  used INTEGER NOT NULL,
  PRIMARY KEY (id)
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
INSERT INTO "meta" VALUES('openings','1');
INSERT INTO "meta" VALUES('secret','BjTcHotV7tuTdZCUgV6MRDS_qIJ4Vj08lxlNT65Q');
CREATE TABLE opened (
  file TEXT NOT NULL,
  client TEXT NOT NULL,
  PRIMARY KEY (file, client)
);
INSERT INTO "opened" VALUES('10OFTwxHI03KNN-gkNcc5gHY3Rjyo1ARO','notebook');
INSERT INTO "opened" VALUES('1tGMsutPw93NBjBX4CwOt5b0oOjhDKU3n','notebook');
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
INSERT INTO "rope" VALUES(1,0,100,'9de937cb0ffa405cb59800df9b86e49e');
INSERT INTO "rope" VALUES(2,0,100,'d6a2c08958d245a1bc039d2a296290c4');
INSERT INTO "rope" VALUES(3,0,262144,'80b666cee1744a1c9181ea13408930c2');
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
INSERT INTO "sessions" VALUES('AECyITNSMJknTtId8cECgSKwXgILUCsKG7H8AUueXmPsWkSvalsj8M4vhr9i665fdl','ada@svc.example','notebook',NULL,'{"name": "half"}',NULL,'',3,262144,600000,'open',1.79534460381750607489e+09,1,NULL);
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
INSERT INTO "users" VALUES('ada@svc.example','0AJXXj7-MiZ-HZ271hUk9PVA');
CREATE INDEX files_by_content ON files (content);
CREATE INDEX files_by_owner ON files (owner, seq);
CREATE INDEX files_by_name ON files (owner, name_key);
CREATE INDEX files_by_parent ON files (parent);
CREATE INDEX sessions_by_age ON sessions (touched);
CREATE INDEX permissions_by_grantee ON permissions (grantee);
CREATE INDEX channels_by_watched ON channels (watched, state);
CREATE INDEX messages_by_due ON messages (due);
CREATE INDEX messages_by_channel ON messages (channel, seq);
CREATE INDEX changes_by_user ON changes (user, seq);
CREATE INDEX calendars_by_owner ON calendars (owner);
CREATE INDEX calendar_access_by_scope ON calendar_access (scope);
CREATE INDEX events_by_start ON events (calendar, start);
CREATE INDEX events_by_series ON events (calendar, series);
CREATE INDEX events_by_age ON events (calendar, place, id);
CREATE INDEX events_by_uid ON events (uid);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('contents',3);
INSERT INTO "sqlite_sequence" VALUES('changes',2);
INSERT INTO "sqlite_sequence" VALUES('events',2);
COMMIT;
