//! Sessions on disk: list, read, rename, tag, fork and delete them without a process.
