//! Open files: duplicates of those that a path in `/proc` names, and blocking writes.
#![allow(unsafe_code, reason = "asks the system about open files")]

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _};
use std::path::Path;

/// Duplicates the open file of this process that a path in `/proc` names, such as `/proc/self/fd/1`: both share one
/// position. None if the path names none.
pub(crate) fn named(path: &Path) -> Option<io::Result<File>> {
    let number: i32 = path.file_name()?.to_str()?.parse().ok()?;
    let of_this_process = Path::new("/proc/self").canonicalize().ok()?.join("fd");
    if path.parent()? != of_this_process {
        return None;
    }
    // SAFETY: any number may be passed; the command takes a number and no pointer.
    let copy = unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 0) };
    if copy < 0 {
        return Some(Err(io::Error::last_os_error()));
    }
    // SAFETY: the call has just opened this descriptor, and nothing else owns it.
    Some(Ok(unsafe { File::from_raw_fd(copy) }))
}

/// Makes writes block to a file that was opened without blocking.
pub(crate) fn set_blocking(file: &File) -> io::Result<()> {
    // SAFETY: the file is open, and the command takes no pointer.
    let flags = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETFL) };
    // SAFETY: as above.
    if flags < 0 || unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFL, flags & !libc::O_NONBLOCK) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
