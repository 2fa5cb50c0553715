//! Traces of programs, read back line by line.

mod crash;
mod edges;
mod exact;
mod file;
mod files;
mod kernels;
mod oracle;
mod real;
