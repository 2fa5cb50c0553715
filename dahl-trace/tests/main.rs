//! Tests of reports and of reading traces, in one program.

mod browser;
mod elsewhere;
mod made;
mod page;
mod reading;
mod report;
mod summary;
