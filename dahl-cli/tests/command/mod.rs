//! The command as its users run it: the built binary, in a folder of its own that has what `tests/fixture` has.

mod examples;
mod folder;
mod json;
mod manners;
mod page;
mod wrong;
