//! Session stores: transcripts that are kept elsewhere than on the disk of the CLI.
