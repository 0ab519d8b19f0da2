-- The second version: what sessions had used that are deleted, so that totals do not shrink.
CREATE TABLE deleted (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    cost DOUBLE PRECISION NOT NULL,
    input_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    turns BIGINT NOT NULL
);
INSERT INTO deleted VALUES (1, 0, 0, 0, 0);
