-- Who writes, and what the last transaction is called that it committed: so that whoever lost the answer
-- to a commit can find out what came of it. The numbers that the database gives to transactions do not
-- tell: one that was lost in a crash is given to somebody else.
CREATE TABLE writers (
    id UUID PRIMARY KEY,
    last UUID NOT NULL,
    at TIMESTAMPTZ NOT NULL
);
