-- The schema of version 1. It never changes: later versions are steps in upgrades.py.
CREATE TABLE meta (
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (name)
);
CREATE TABLE users (
    email TEXT NOT NULL,
    root TEXT NOT NULL,
    PRIMARY KEY (email)
);
CREATE TABLE tokens (
    digest TEXT NOT NULL,
    user TEXT NOT NULL,
    client TEXT NOT NULL,
    scopes TEXT NOT NULL,
    service_account INTEGER NOT NULL,
    expires FLOAT,
    PRIMARY KEY (digest)
);
CREATE TABLE clients (
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    secret TEXT NOT NULL,
    redirects TEXT NOT NULL,
    PRIMARY KEY (id)
);
CREATE TABLE accounts (
    email TEXT NOT NULL,
    client TEXT NOT NULL,
    key_id TEXT NOT NULL,
    public_key TEXT NOT NULL,
    delegation TEXT NOT NULL,
    PRIMARY KEY (email)
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
CREATE INDEX grants_by_family ON grants (family);
CREATE TABLE granted (
    token TEXT NOT NULL,
    family TEXT NOT NULL,
    PRIMARY KEY (token)
);
CREATE INDEX granted_by_family ON granted (family);
CREATE TABLE generated (
    id TEXT NOT NULL,
    owner TEXT NOT NULL,
    used INTEGER NOT NULL,
    PRIMARY KEY (id)
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
CREATE INDEX files_by_owner ON files (owner, seq);
CREATE INDEX files_by_name ON files (owner, name_key);
CREATE INDEX files_by_content ON files (content);
CREATE INDEX files_by_parent ON files (parent);
CREATE TABLE properties (
    file TEXT NOT NULL,
    client TEXT NOT NULL,
    "key" TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (file, client, "key")
);
CREATE TABLE opened (
    file TEXT NOT NULL,
    client TEXT NOT NULL,
    PRIMARY KEY (file, client)
);
CREATE TABLE contents (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    md5 TEXT,
    sha1 TEXT,
    sha256 TEXT
);
CREATE TABLE rope (
    content INTEGER NOT NULL,
    start INTEGER NOT NULL,
    stop INTEGER NOT NULL,
    part TEXT NOT NULL,
    PRIMARY KEY (content, start)
);
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
CREATE INDEX sessions_by_age ON sessions (touched);
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
CREATE INDEX permissions_by_grantee ON permissions (grantee);
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
CREATE INDEX channels_by_watched ON channels (watched, state);
CREATE TABLE messages (
    seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    channel INTEGER NOT NULL,
    number INTEGER NOT NULL,
    state TEXT NOT NULL,
    changed TEXT NOT NULL,
    due INTEGER NOT NULL,
    attempts INTEGER NOT NULL
);
CREATE INDEX messages_by_due ON messages (due);
CREATE INDEX messages_by_channel ON messages (channel, seq);
CREATE TABLE changes (
    seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    user TEXT NOT NULL,
    file TEXT NOT NULL,
    time INTEGER NOT NULL,
    UNIQUE (user, file)
);
CREATE INDEX changes_by_user ON changes (user, seq);
CREATE TABLE calendars (
    id TEXT NOT NULL,
    owner TEXT NOT NULL,
    client TEXT NOT NULL,
    zone TEXT NOT NULL,
    created INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (id)
);
CREATE INDEX calendars_by_owner ON calendars (owner);
CREATE TABLE calendar_access (
    calendar TEXT NOT NULL,
    scope TEXT NOT NULL,
    role INTEGER NOT NULL,
    PRIMARY KEY (calendar, scope)
);
CREATE INDEX calendar_access_by_scope ON calendar_access (scope);
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
CREATE INDEX events_by_age ON events (calendar, place, id);
CREATE INDEX events_by_uid ON events (uid);
CREATE INDEX events_by_start ON events (calendar, start);
CREATE INDEX events_by_series ON events (calendar, series);
CREATE TABLE invitations (
    seq INTEGER NOT NULL,
    time INTEGER NOT NULL,
    event TEXT NOT NULL,
    recipient TEXT NOT NULL,
    method TEXT NOT NULL,
    subject TEXT NOT NULL,
    PRIMARY KEY (seq)
);
CREATE TABLE domains (
    domain TEXT NOT NULL,
    PRIMARY KEY (domain)
);
CREATE TABLE authorities (
    pem TEXT NOT NULL,
    PRIMARY KEY (pem)
);
