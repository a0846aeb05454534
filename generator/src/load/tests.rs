//! Servers from in-memory files.
