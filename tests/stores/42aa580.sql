-- a store of commit 42aa580: one user, two files, an upload under way.
BEGIN TRANSACTION;
CREATE TABLE contents (
  id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  md5 TEXT,
  sha1 TEXT,
  sha256 TEXT
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
INSERT INTO "files" VALUES(1,'0ANr5Mg7YnoV5yulp2Uk9PVA','ada@svc.example',NULL,'My files','application/vnd.svc-apps.folder',1795344580538,1795344580538,1795344580538,NULL,0,0,NULL,0,NULL,NULL,1,0,NULL,'{}','my files','my files',' my files',' my files');
INSERT INTO "files" VALUES(2,'11FVo7inUTRlafrfZefF1eex_Xfw5sHM4','ada@svc.example','0ANr5Mg7YnoV5yulp2Uk9PVA','Untitled','text/plain',1795344580551,1795344580551,1795344580551,NULL,0,0,NULL,0,1,100,1,0,NULL,'{"originalFilename": "Untitled"}','untitled','untitled',' untitled',' untitled');
INSERT INTO "files" VALUES(3,'1BKzlX4Juo0xbel6xKK4Bsju636KE7wbM','ada@svc.example','0ANr5Mg7YnoV5yulp2Uk9PVA','Untitled','text/plain',1795344580552,1795344580552,1795344580552,NULL,0,0,NULL,0,2,100,1,0,NULL,'{"originalFilename": "Untitled"}','untitled','untitled',' untitled',' untitled');
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
INSERT INTO "meta" VALUES('openings','1');
INSERT INTO "meta" VALUES('secret','GgwuO5OUFmXa7JkbM3aWaw7ILzatvGNSQeGC4tMA');
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
INSERT INTO "rope" VALUES(1,0,100,'b50b17ec34b5413d8030cfca3e594e0f');
INSERT INTO "rope" VALUES(2,0,100,'8d364af4017a4d1b967eaea7f289e31e');
INSERT INTO "rope" VALUES(3,0,262144,'112347e9784a414bb146bb8e30c434d1');
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
INSERT INTO "sessions" VALUES('AEVF2VoK6nnppzlPsw1FiZLgRBC4Jh3EIVmU_Mo5vFnQ1Px9Y_C4r-5u-Pkn3lJIOF','ada@svc.example','notebook',NULL,'{"name": "half"}',NULL,'',3,262144,600000,'open',1.79534458056475710869e+09,1,NULL);
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
INSERT INTO "users" VALUES('ada@svc.example','0ANr5Mg7YnoV5yulp2Uk9PVA');
CREATE INDEX files_by_owner ON files (owner, seq);
CREATE INDEX files_by_content ON files (content);
CREATE INDEX files_by_parent ON files (parent);
CREATE INDEX files_by_name ON files (owner, name_key);
CREATE INDEX sessions_by_age ON sessions (touched);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('contents',3);
COMMIT;
