-- a store of commit 7e2209c: one user, two files, an upload under way.
BEGIN TRANSACTION;
CREATE TABLE authorities (
  pem TEXT NOT NULL,
  PRIMARY KEY (pem)
);
CREATE TABLE changes (
  seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  user TEXT NOT NULL,
  file TEXT NOT NULL,
  time INTEGER NOT NULL,
  UNIQUE (user, file)
);
INSERT INTO "changes" VALUES(1,'ada@svc.example','1WOYDt8mvGdi7Odw6-Qtp29OJA7KL9wQV',1795344599302);
INSERT INTO "changes" VALUES(2,'ada@svc.example','1XqU7ToOOJc3PhiNVp6IK2dxMSKs7NpD2',1795344599304);
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
INSERT INTO "files" VALUES(1,'0AM2dcY_7fwdaU9UFsUk9PVA','ada@svc.example',NULL,'My files','application/vnd.svc-apps.folder',1795344599291,1795344599291,1795344599291,NULL,0,0,NULL,0,NULL,NULL,1,0,NULL,'{}','my files','my files',' my files',' my files');
INSERT INTO "files" VALUES(2,'1WOYDt8mvGdi7Odw6-Qtp29OJA7KL9wQV','ada@svc.example','0AM2dcY_7fwdaU9UFsUk9PVA','Untitled','text/plain',1795344599298,1795344599298,1795344599298,NULL,0,0,NULL,0,1,100,1,0,NULL,'{"originalFilename": "Untitled"}','untitled','untitled',' untitled',' untitled');
INSERT INTO "files" VALUES(3,'1XqU7ToOOJc3PhiNVp6IK2dxMSKs7NpD2','ada@svc.example','0AM2dcY_7fwdaU9UFsUk9PVA','Untitled','text/plain',1795344599303,1795344599304,1795344599304,NULL,0,0,NULL,0,2,100,1,0,NULL,'{"originalFilename": "Untitled"}','untitled','untitled',' untitled',' untitled');
CREATE TABLE generated (
  id TEXT NOT NULL,
  owner TEXT NOT NULL,
  used INTEGER NOT NULL,
  PRIMARY KEY (id)
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
INSERT INTO "meta" VALUES('secret','iPEP_WROL7w9WJ5t6ThWFgNoBFOBUOo5ss-dsHfE');
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
INSERT INTO "rope" VALUES(1,0,100,'34805b4fc2e24f2490b84ba3c4970ce0');
INSERT INTO "rope" VALUES(2,0,100,'5dc479dffe9f4aa3ad3e2a59f329d9e1');
INSERT INTO "rope" VALUES(3,0,262144,'23f9b3ddcb994fcfbaf0c874479882b3');
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
INSERT INTO "sessions" VALUES('AEdUrlP_P_fErp97PYxAhPMwWvDc7odYSun58pcDs6REL-NzOabilLvha1kToBOqZP','ada@svc.example','notebook',NULL,'{"name": "half"}',NULL,'',3,262144,600000,'open',1795344599.32462,1,NULL);
CREATE TABLE tokens (
  digest TEXT NOT NULL,
  user TEXT NOT NULL,
  client TEXT NOT NULL,
  scopes TEXT NOT NULL,
  service_account INTEGER NOT NULL,
  expires FLOAT,
  PRIMARY KEY (digest)
);
INSERT INTO "tokens" VALUES('e632b7095b0bf32c260fa4c539e9fd7b852d0de454e9be26f24d0d6f91d069d3','ada@svc.example','notebook','storage storage.appdata storage.apps.readonly storage.file storage.meet.readonly storage.metadata storage.metadata.readonly storage.photos.readonly storage.readonly storage.scripts calendar calendar.events',0,NULL);
CREATE TABLE users (
  email TEXT NOT NULL,
  root TEXT NOT NULL,
  PRIMARY KEY (email)
);
INSERT INTO "users" VALUES('ada@svc.example','0AM2dcY_7fwdaU9UFsUk9PVA');
CREATE INDEX files_by_owner ON files (owner, seq);
CREATE INDEX files_by_name ON files (owner, name_key);
CREATE INDEX files_by_content ON files (content);
CREATE INDEX files_by_parent ON files (parent);
CREATE INDEX sessions_by_age ON sessions (touched);
CREATE INDEX permissions_by_grantee ON permissions (grantee);
CREATE INDEX channels_by_watched ON channels (watched, state);
CREATE INDEX messages_by_channel ON messages (channel, seq);
CREATE INDEX messages_by_due ON messages (due);
CREATE INDEX changes_by_user ON changes (user, seq);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('contents',3);
INSERT INTO "sqlite_sequence" VALUES('changes',2);
COMMIT;
