-- a store of commit 0c1b3b0: one user, two files, an upload under way.
BEGIN TRANSACTION;
CREATE TABLE contents (
  id INTEGER NOT NULL,
  md5 TEXT,
  sha1 TEXT,
  sha256 TEXT,
  PRIMARY KEY (id)
);
INSERT INTO "contents" VALUES(1,NULL,NULL,NULL);
INSERT INTO "contents" VALUES(2,NULL,NULL,NULL);
INSERT INTO "contents" VALUES(3,NULL,NULL,NULL);
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
INSERT INTO "files" VALUES(1,'0AYPbYQclyFEs-WFwXUk9PVA','ada@svc.example',NULL,'My files','application/vnd.svc-apps.folder',1795344570945,1795344570945,1795344570945,NULL,0,0,NULL,0,NULL,NULL,1,0,NULL,'{}','my files','my files',' my files',' my files');
INSERT INTO "files" VALUES(2,'17OVKBrLcQw8VwQ1TS_ktOf3sZ8pfnqRU','ada@svc.example','0AYPbYQclyFEs-WFwXUk9PVA','Untitled','text/plain',1795344570957,1795344570957,1795344570957,NULL,0,0,NULL,0,1,100,1,0,NULL,'{"originalFilename": "Untitled"}','untitled','untitled',' untitled',' untitled');
INSERT INTO "files" VALUES(3,'1AIGKW3d_BT4OId22DO18cyHTeJTWDlv1','ada@svc.example','0AYPbYQclyFEs-WFwXUk9PVA','Untitled','text/plain',1795344570963,1795344570963,1795344570963,NULL,0,0,NULL,0,2,100,1,0,NULL,'{"originalFilename": "Untitled"}','untitled','untitled',' untitled',' untitled');
CREATE TABLE generated (
  id TEXT NOT NULL,
  owner TEXT NOT NULL,
  used INTEGER NOT NULL,
  PRIMARY KEY (id)
);
CREATE TABLE meta (
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (name)
);
INSERT INTO "meta" VALUES('secret','ll1hlAmqD1zJBX5zYGTdDptWEdeVi9rQ5UMF5_aF');
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
INSERT INTO "rope" VALUES(1,0,100,'de33ab0d270e4f2e9f2eb9975a74ecde');
INSERT INTO "rope" VALUES(2,0,100,'b2cab41bc3114040954464146d638531');
INSERT INTO "rope" VALUES(3,0,262144,'e1d56839a021447d9a492cfca7513e68');
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
INSERT INTO "sessions" VALUES('AE4WaTml9-z2NFaPUqoA5zC-1s8hnYh6Zlbij-a31oIkbIhWw1NCnYEbfrah4SL5kV','ada@svc.example','notebook',NULL,'{"name": "half"}',NULL,'',3,262144,600000,'open',1.79534457097085905076e+09,1,NULL);
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
INSERT INTO "users" VALUES('ada@svc.example','0AYPbYQclyFEs-WFwXUk9PVA');
CREATE INDEX files_by_name ON files (owner, name_key);
CREATE INDEX files_by_parent ON files (parent);
CREATE INDEX files_by_owner ON files (owner, seq);
CREATE INDEX files_by_content ON files (content);
CREATE INDEX sessions_by_age ON sessions (touched);
COMMIT;
