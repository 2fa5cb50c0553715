//! The floors of dahl: which crate, room and file uses which, read from the code, and the order that they must keep.
//!
//! `order` names the floors and what may break them. `crates` reads the manifests. `modules` reads the files of one crate, and
//! `graph` follows their paths, through re-exports, to the files that define what is named. `drawing` makes the picture.
//!
//! What a path does not say is not seen: methods of a type that another file adds, and what macros make. Tests inside of a file
//! (`#[cfg(test)]`) are left out.

pub mod crates;
pub mod drawing;
pub mod graph;
pub mod modules;
pub mod order;
