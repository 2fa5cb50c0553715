//! [`Target`]: the place where a file is saved.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

#[cfg(unix)]
use crate::descriptor;
use crate::without_size_signal;

/// The most links that are followed from one path, as in Linux.
const MOST_LINKS: usize = 40;

/// A path to save to, with links resolved and the way to write determined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    path: PathBuf,
    way: Way,
}

/// How it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// By a new file that replaces it.
    Replace,
    /// Into the existing file: it is not regular, or it is an open file of this process.
    Through,
}

impl Target {
    /// Follows the links of `path`, and examines the file there. Changes nothing.
    ///
    /// # Errors
    /// If the path is empty, a folder, or leads through a loop of links or a folder that is not there.
    pub fn find(path: impl AsRef<Path>) -> io::Result<Self> {
        let mut path =
            std::path::absolute(path.as_ref()).map_err(|error| match path.as_ref().as_os_str() {
                empty if empty == OsStr::new("") => {
                    io::Error::new(ErrorKind::InvalidInput, "the path is empty")
                }
                _ => error,
            })?;
        let way = match fs::metadata(&path) {
            Ok(there) if there.is_dir() => return Err(ErrorKind::IsADirectory.into()),
            Ok(there) if !there.is_file() => Way::Through,
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => Way::Replace,
        };
        for _ in 0..MOST_LINKS {
            let Some(name) = path.file_name() else { return Err(ErrorKind::IsADirectory.into()) };
            let folder = path.parent().unwrap_or(&path).canonicalize()?;
            if folder.starts_with("/proc") {
                // `/proc/self/fd/1`: an open file, which others may also write to.
                return Ok(Self { path: folder.join(name), way: Way::Through });
            }
            path = folder.join(name);
            match fs::symlink_metadata(&path) {
                Ok(there) if there.is_symlink() => path = folder.join(fs::read_link(&path)?),
                Ok(_) => return Ok(Self { path, way }),
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self { path, way }),
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other("too many symbolic links"))
    }

    /// The path without links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Checks whether it can be written, without changing it.
    ///
    /// # Errors
    /// If it cannot.
    pub fn try_out(&self) -> io::Result<()> {
        match self.way {
            Way::Replace => {
                self.require_writable()?;
                self.beside(None).map(drop)
            }
            // A reader would notice that a FIFO is opened.
            Way::Through if is_fifo(&self.path) => Ok(()),
            Way::Through => self.open().map(drop),
        }
    }

    /// Replaces the content by the output of `write`.
    ///
    /// # Errors
    /// If it cannot be written, or that of `write`.
    pub fn write<R>(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<R>) -> io::Result<R> {
        without_size_signal(|| match self.way {
            Way::Replace => self.replace(write),
            Way::Through => fill(&self.open()?, write),
        })
    }

    fn replace<R>(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<R>) -> io::Result<R> {
        let old = self.require_writable()?;
        let beside = self.beside(old.as_ref())?;
        if let Some(old) = &old
            && !give_owner_and_mode(beside.as_file(), old)?
        {
            let file = OpenOptions::new().write(true).truncate(true).open(&self.path)?;
            return fill(&file, write);
        }
        let result = fill(beside.as_file(), write)?;
        beside.persist(&self.path).map_err(|error| error.error)?; // removed if it cannot be renamed
        flush_folder(self.folder());
        Ok(result)
    }

    /// The metadata of the existing file, if any. An error if it may not be written: renaming another file over it
    /// would not check that.
    fn require_writable(&self) -> io::Result<Option<Metadata>> {
        match OpenOptions::new().write(true).open(&self.path) {
            Ok(file) => file.metadata().map(Some),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(&self.path)
    }

    /// A new private file, which is removed when it is dropped. Whoever may not read the old file may not read this
    /// one.
    fn beside(&self, old: Option<&Metadata>) -> io::Result<NamedTempFile> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(".dahl-").rand_bytes(10);
        #[cfg(unix)]
        if old.is_none() {
            use std::os::unix::fs::PermissionsExt as _;
            builder.permissions(fs::Permissions::from_mode(0o666)); // less what the process takes off
        }
        let _ = old;
        builder.tempfile_in(self.folder())
    }

    /// Opens a file that is not regular. Writes are appended to the content of an open file.
    fn open(&self) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.append(true);
        #[cfg(unix)]
        if let Some(file) = descriptor::named(&self.path) {
            return file;
        }
        #[cfg(unix)]
        if is_fifo(&self.path) {
            return open_fifo(&self.path, &mut options);
        }
        options.open(&self.path)
    }
}

/// Lets `write` write to a file, and flushes it to its disk, if any.
fn fill<R>(file: &File, write: impl FnOnce(&mut dyn Write) -> io::Result<R>) -> io::Result<R> {
    let mut out = BufWriter::new(file);
    let result = write(&mut out);
    let result = match result {
        Ok(result) => out.into_inner().map_err(io::IntoInnerError::into_error).map(|_| result)?,
        Err(error) => {
            let _ = out.into_parts(); // what was not written is not wanted
            return Err(error);
        }
    };
    if file.metadata()?.is_file() {
        file.sync_all()?;
    }
    Ok(result)
}

/// Gives a new file the owner, the group and the mode of an old one. False if the owner or the group cannot be set.
#[cfg(unix)]
fn give_owner_and_mode(new: &File, old: &Metadata) -> io::Result<bool> {
    use std::os::unix::fs::{MetadataExt as _, fchown};
    let now = new.metadata()?;
    if (now.uid(), now.gid()) != (old.uid(), old.gid())
        && fchown(new, Some(old.uid()), Some(old.gid())).is_err()
    {
        return Ok(false);
    }
    new.set_permissions(old.permissions())?; // after the owner, whose change takes bits off
    Ok(true)
}

#[cfg(not(unix))]
fn give_owner_and_mode(new: &File, old: &Metadata) -> io::Result<bool> {
    new.set_permissions(old.permissions())?;
    Ok(true)
}

/// Flushes the entries of a folder. Errors are ignored: some file systems cannot, and the file itself has been written.
fn flush_folder(folder: &Path) {
    #[cfg(unix)]
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    let _ = folder;
}

#[cfg(unix)]
fn is_fifo(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    fs::metadata(path).is_ok_and(|there| there.file_type().is_fifo())
}

#[cfg(not(unix))]
fn is_fifo(_: &Path) -> bool {
    false
}

/// Opens a FIFO that has a reader; from then on writes wait for the reader.
#[cfg(unix)]
fn open_fifo(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    match options.custom_flags(libc::O_NONBLOCK).open(path) {
        Ok(file) => {
            descriptor::set_blocking(&file)?;
            Ok(file)
        }
        Err(error) if error.raw_os_error() == Some(libc::ENXIO) => {
            Err(io::Error::new(ErrorKind::NotConnected, "it is a FIFO, and nobody reads from it"))
        }
        Err(error) => Err(error),
    }
}
