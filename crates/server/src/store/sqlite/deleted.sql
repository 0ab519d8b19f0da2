-- The second version: what sessions had used that are deleted, so that totals do not shrink.
CREATE TABLE deleted (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    cost REAL NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    turns INTEGER NOT NULL
) STRICT;
INSERT INTO deleted VALUES (1, 0, 0, 0, 0);
