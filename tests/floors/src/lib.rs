//! The floors of dahl: the uses between crates, modules and files, read from the code, and the order that they must
//! keep; and what the texts of the repository name, which must exist.
//!
//! `order` defines the floors and the exceptions. `crates` reads the manifests. `modules` reads the files of one crate,
//! and `graph` follows their paths, through re-exports, to the files that define the named items. `drawing` makes the
//! picture.
//!
//! `texts` reads pages, sources and scripts. `links` finds links that lead nowhere, and `commands` finds commands of cargo
//! that name none of the `programs` of a package.
//!
//! Uses without a path are not found: methods that another file adds to a type, and items that macros generate. Tests
//! inside of a file (`#[cfg(test)]`) are left out.

pub mod commands;
pub mod crates;
pub mod drawing;
pub mod graph;
pub mod links;
pub mod modules;
pub mod order;
pub mod programs;
pub mod texts;
