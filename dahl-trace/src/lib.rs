//! Traces of dahl's runs: what is in the file, and what is made of it.
//!
//! A runtime with `DAHL_TRACE=run.json` writes the file while it runs ([`format`]). It opens in Perfetto and in
//! `chrome://tracing` as it is.
//!
//! Not here: recording (`dahl-core`), and the command that reads files (`dahl-cli`).

pub mod format;
