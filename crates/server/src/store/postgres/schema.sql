-- The first version. What is written here stays; a change is a file of its own after it.
--
-- Times are nanoseconds since 1970. JSON is text, byte for byte: the types for JSON change it, and
-- refuse some of it.

-- The log. Everything below is made of it, but for transcripts, commands, cursors and runs.
CREATE TABLE events (
    position BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    session UUID NOT NULL,
    seq BIGINT NOT NULL,
    at BIGINT NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    UNIQUE (session, seq)
);

CREATE TABLE sessions (
    id UUID PRIMARY KEY,
    state TEXT NOT NULL,
    archived BOOLEAN NOT NULL,
    created BIGINT NOT NULL,
    updated BIGINT NOT NULL,
    title TEXT NOT NULL, -- in lower case
    folder TEXT NOT NULL,
    parent UUID,
    open_approvals BIGINT NOT NULL,
    is_unsettled BOOLEAN NOT NULL,
    cost DOUBLE PRECISION NOT NULL,
    input_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    turns BIGINT NOT NULL,
    head TEXT NOT NULL
);
CREATE INDEX sessions_by_update ON sessions (updated, id);
CREATE INDEX sessions_by_archive ON sessions (archived, updated, id);
CREATE INDEX sessions_by_state ON sessions (state, updated, id);
CREATE INDEX sessions_by_creation ON sessions (created, id);
CREATE INDEX sessions_by_archive_and_creation ON sessions (archived, created, id);
CREATE INDEX sessions_by_parent ON sessions (parent) WHERE parent IS NOT NULL;
CREATE INDEX sessions_unsettled ON sessions (id) WHERE is_unsettled;

-- Found by a digest: a label may be longer than what an index takes.
CREATE TABLE labels (
    digest BYTEA NOT NULL,
    session UUID NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    label TEXT NOT NULL,
    PRIMARY KEY (digest, session)
);
CREATE INDEX labels_by_session ON labels (session);

CREATE TABLE approvals (
    id UUID PRIMARY KEY,
    session UUID NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    stage TEXT NOT NULL,
    opened BIGINT NOT NULL,
    approval TEXT NOT NULL,
    token TEXT
);
CREATE INDEX approvals_by_time ON approvals (opened, id);
CREATE INDEX approvals_by_stage ON approvals (stage, opened, id);
CREATE INDEX approvals_by_session ON approvals (session, opened, id);

CREATE TABLE messages (
    id UUID PRIMARY KEY,
    session UUID NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    message TEXT NOT NULL
);
CREATE INDEX messages_by_session ON messages (session);

-- Words of what is said. They are cut out before (see words.rs), and not by a dictionary of the
-- database.
CREATE TABLE words (
    session UUID NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    seq BIGINT NOT NULL,
    words TSVECTOR NOT NULL,
    PRIMARY KEY (session, seq)
);
CREATE INDEX words_by_word ON words USING gin (words);

-- It outlives the sessions that it is about.
CREATE TABLE audit (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at BIGINT NOT NULL,
    kind TEXT NOT NULL,
    session UUID,
    approval UUID,
    by TEXT NOT NULL,
    detail TEXT NOT NULL
);
CREATE INDEX audit_by_time ON audit (at);
CREATE INDEX audit_by_session ON audit (session) WHERE session IS NOT NULL;
CREATE INDEX audit_by_approval ON audit (approval) WHERE approval IS NOT NULL;

CREATE TABLE commands (
    name BYTEA PRIMARY KEY,
    fingerprint BYTEA NOT NULL,
    response BYTEA NOT NULL,
    at BIGINT NOT NULL
);
CREATE INDEX commands_by_time ON commands (at);

CREATE TABLE cursors (
    name TEXT PRIMARY KEY,
    position BIGINT NOT NULL
);

CREATE TABLE runs (
    mark TEXT PRIMARY KEY,
    process TEXT,
    began BIGINT NOT NULL
);

-- Transcripts of the CLI. An empty subpath is that of the session itself.
CREATE TABLE transcripts (
    key BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project TEXT NOT NULL,
    session TEXT NOT NULL,
    subpath TEXT NOT NULL,
    modified BIGINT NOT NULL,
    summary TEXT,
    UNIQUE (project, session, subpath)
);
CREATE INDEX transcripts_by_session ON transcripts (session);
CREATE INDEX transcripts_by_time ON transcripts (modified);
CREATE TABLE transcript_entries (
    transcript BIGINT NOT NULL REFERENCES transcripts (key) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    entry TEXT NOT NULL,
    PRIMARY KEY (transcript, number)
);

-- Written to find out whether anything can be written.
CREATE TABLE checks (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    at BIGINT NOT NULL
);

-- Who is let in. Secrets are kept as their SHA-256.
CREATE TABLE tokens (
    id UUID PRIMARY KEY,
    name BYTEA NOT NULL,
    scope TEXT NOT NULL,
    hash BYTEA NOT NULL,
    created BIGINT NOT NULL,
    expires BIGINT,
    last_used BIGINT,
    revoked BIGINT
);
CREATE TABLE login_codes (
    hash BYTEA PRIMARY KEY,
    token UUID NOT NULL,
    scope TEXT NOT NULL,
    expires BIGINT NOT NULL
);
CREATE TABLE browsers (
    id UUID PRIMARY KEY,
    hash BYTEA NOT NULL UNIQUE,
    token UUID NOT NULL,
    scope TEXT NOT NULL,
    created BIGINT NOT NULL,
    last_used BIGINT NOT NULL,
    expires BIGINT NOT NULL
);
