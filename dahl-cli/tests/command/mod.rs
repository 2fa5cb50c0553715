//! The command as users run it: the built binary, in a folder with a copy of `tests/fixture`.

mod energy;
mod examples;
mod folder;
mod json;
mod manners;
mod page;
mod plan_of_run;
mod program;
mod simulate;
mod wrong;
