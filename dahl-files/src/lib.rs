//! Saving a file: whole or not at all.
//!
//! [`save`] is the one way in which dahl writes files that others read: models, statistics, plans, performance models,
//! tables of kernels, histories. [`Target`] is where a file will be, found before its content is there.
//!
//! Not here: traces, which grow while a program runs; they use [`without_size_signal`]. What files hold.
//!
//! # What saving keeps
//!
//! | the path | what happens |
//! |---|---|
//! | nothing is there | a new file, with the mode that the process gives new files |
//! | a regular file | replaced at once: a reader sees the old or the new content, whole. Owner, group and mode stay |
//! | a symbolic link | what it leads to is replaced or made; the link stays. A loop of links is an error |
//! | a device, a FIFO, a socket's file, `/dev/stdout`, `/dev/fd/3` | written to, and never replaced |
//! | a FIFO that nobody reads | an error at once, where a plain write would wait |
//! | a folder, the empty path | an error |
//!
//! The new content is written to a file of its own in the same folder, whose name is short and that no other writer has,
//! flushed to the disk, and renamed; then the folder is flushed. So any number of threads and processes may save to one
//! path: the last one wins. After an error nothing stays behind. Only a process that is killed leaves a file `.dahl-*`.
//!
//! Another owner's file, whose owner this process may not give to a new file, is written in place: then a reader may see a
//! part. Further names of a file (hard links) keep the old content. Access control lists and extended attributes are not
//! kept.

#[cfg(unix)]
mod descriptor;
mod signal;
mod target;

use std::io::{self, Write};
use std::path::Path;

pub use signal::without_size_signal;
pub use target::Target;

/// Replaces the content of the file at `path` by `bytes`, as the [crate] says.
///
/// # Errors
/// If the file cannot be written. It is unchanged then, unless it was written in place.
pub fn save(path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    save_with(path, |out| out.write_all(bytes.as_ref()))
}

/// As [`save`], with the output of `write`.
///
/// # Errors
/// As [`save`]; or that of `write`.
pub fn save_with<R>(
    path: impl AsRef<Path>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<R>,
) -> io::Result<R> {
    Target::find(path)?.write(write)
}
