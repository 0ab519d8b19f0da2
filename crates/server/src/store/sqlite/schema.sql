-- The first version. What is written here stays; a change is a file of its own after it.
--
-- Times are nanoseconds since 1970. Names are the 16 bytes of a UUID. JSON is text, byte for byte.

-- The log. Everything below is made of it, but for transcripts, commands, cursors and runs.
CREATE TABLE events (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    session BLOB NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX events_by_session ON events (session, seq);

-- What is filtered and sorted by. It is apart from the heads, so that a scan reads little.
CREATE TABLE sessions (
    key INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE,
    state TEXT NOT NULL,
    archived INTEGER NOT NULL,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    title TEXT NOT NULL, -- in lower case
    folder TEXT NOT NULL,
    parent BLOB,
    open_approvals INTEGER NOT NULL,
    is_unsettled INTEGER NOT NULL,
    cost REAL NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    turns INTEGER NOT NULL
) STRICT;
CREATE INDEX sessions_by_update ON sessions (updated, id);
CREATE INDEX sessions_by_archive ON sessions (archived, updated, id);
CREATE INDEX sessions_by_state ON sessions (state, updated, id);
CREATE INDEX sessions_by_creation ON sessions (created, id);
CREATE INDEX sessions_by_archive_and_creation ON sessions (archived, created, id);
CREATE INDEX sessions_by_parent ON sessions (parent) WHERE parent IS NOT NULL;
CREATE INDEX sessions_unsettled ON sessions (id) WHERE is_unsettled;

CREATE TABLE heads (
    session INTEGER PRIMARY KEY REFERENCES sessions (key) ON DELETE CASCADE,
    head TEXT NOT NULL
) STRICT;

CREATE TABLE labels (
    label TEXT NOT NULL,
    session INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    PRIMARY KEY (label, session)
) STRICT, WITHOUT ROWID;
CREATE INDEX labels_by_session ON labels (session);

CREATE TABLE approvals (
    id BLOB PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    stage TEXT NOT NULL,
    opened INTEGER NOT NULL,
    approval TEXT NOT NULL,
    token TEXT
) STRICT;
CREATE INDEX approvals_by_time ON approvals (opened, id);
CREATE INDEX approvals_by_stage ON approvals (stage, opened, id);
CREATE INDEX approvals_by_session ON approvals (session, opened, id);

CREATE TABLE messages (
    id BLOB PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    message TEXT NOT NULL
) STRICT;
CREATE INDEX messages_by_session ON messages (session);

-- Words of what is said. A row is an event with words; its number is that of the session, and then
-- that of the event in 24 bits. Words are cut out before (see words.rs): the tokenizer only finds
-- the spaces between them.
CREATE VIRTUAL TABLE words USING fts5 (
    text, content = '', contentless_delete = 1, detail = 'none', tokenize = 'ascii'
);

-- It outlives the sessions that it is about.
CREATE TABLE audit (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    session BLOB,
    approval BLOB,
    by TEXT NOT NULL,
    detail TEXT NOT NULL
) STRICT;
CREATE INDEX audit_by_time ON audit (at);
CREATE INDEX audit_by_session ON audit (session) WHERE session IS NOT NULL;
CREATE INDEX audit_by_approval ON audit (approval) WHERE approval IS NOT NULL;

CREATE TABLE commands (
    name BLOB PRIMARY KEY,
    fingerprint BLOB NOT NULL,
    response TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX commands_by_time ON commands (at);

CREATE TABLE cursors (
    name TEXT PRIMARY KEY,
    position INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE runs (
    mark TEXT PRIMARY KEY,
    process TEXT,
    began INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Transcripts of the CLI. An empty subpath is that of the session itself.
CREATE TABLE transcripts (
    key INTEGER PRIMARY KEY,
    project TEXT NOT NULL,
    session TEXT NOT NULL,
    subpath TEXT NOT NULL,
    modified INTEGER NOT NULL,
    summary TEXT,
    UNIQUE (project, session, subpath)
) STRICT;
CREATE INDEX transcripts_by_session ON transcripts (session);
CREATE INDEX transcripts_by_time ON transcripts (modified);
CREATE TABLE transcript_entries (
    transcript INTEGER NOT NULL REFERENCES transcripts (key) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    entry TEXT NOT NULL,
    PRIMARY KEY (transcript, number)
) STRICT, WITHOUT ROWID;

-- Written to find out whether anything can be written.
CREATE TABLE checks (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    at INTEGER NOT NULL
) STRICT;

-- Who is let in. Secrets are kept as their SHA-256.
CREATE TABLE tokens (
    id BLOB PRIMARY KEY,
    name TEXT NOT NULL,
    scope TEXT NOT NULL,
    hash BLOB NOT NULL,
    created INTEGER NOT NULL,
    expires INTEGER,
    last_used INTEGER,
    revoked INTEGER
) STRICT, WITHOUT ROWID;
CREATE TABLE login_codes (
    hash BLOB PRIMARY KEY,
    token BLOB NOT NULL,
    scope TEXT NOT NULL,
    expires INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE browsers (
    id BLOB PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    token BLOB NOT NULL,
    scope TEXT NOT NULL,
    created INTEGER NOT NULL,
    last_used INTEGER NOT NULL,
    expires INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
