//! Saving: what is preserved, which links are followed, and that files are complete.
#![cfg(unix)]

use std::ffi::CString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use dahl_files::{Target, save, save_with};
use tempfile::tempdir;

/// Names the work of a child process, and its folder.
const CHILD: &str = "SAVE_TEST_CHILD";

/// The names in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn a_new_file_has_the_mode_of_new_files() {
    let folder = tempdir().unwrap();
    let (saved, plain) = (folder.path().join("saved"), folder.path().join("plain"));
    save(&saved, "content").unwrap();
    fs::write(&plain, "content").unwrap();
    assert_eq!(fs::read_to_string(&saved).unwrap(), "content");
    assert_eq!(mode(&saved), mode(&plain));
    assert_eq!(names(folder.path()), ["plain", "saved"]);
}

#[test]
fn owner_and_mode_stay() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("model");
    fs::write(&path, "old").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    // Only the superuser may change the owner; for others it is the same before and after.
    let _ = std::os::unix::fs::chown(&path, Some(12345), Some(54321));
    let before = fs::metadata(&path).unwrap();
    save(&path, "new").unwrap();
    let after = fs::metadata(&path).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    assert_eq!((after.mode(), after.uid(), after.gid()), (before.mode(), before.uid(), before.gid()));
    assert_ne!(after.ino(), before.ino(), "it was not replaced");
}

#[test]
fn links_are_followed_and_stay() {
    let folder = tempdir().unwrap();
    let (inner, link, second) =
        (folder.path().join("inner"), folder.path().join("link"), folder.path().join("second"));
    fs::create_dir(&inner).unwrap();
    symlink("inner/model", &link).unwrap(); // nothing is there yet
    symlink("link", &second).unwrap();
    for content in ["first", "again"] {
        save(&second, content).unwrap();
        assert_eq!(fs::read_to_string(inner.join("model")).unwrap(), content);
    }
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::symlink_metadata(&second).unwrap().is_symlink());
    assert_eq!(names(&inner), ["model"]);
    assert_eq!(names(folder.path()), ["inner", "link", "second"]);
}

#[test]
fn a_loop_of_links_is_an_error_and_stays() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("a");
    symlink("a", &path).unwrap();
    let error = save(&path, "content").unwrap_err();
    assert!(error.to_string().contains("symbolic links"), "{error}");
    assert!(fs::symlink_metadata(&path).unwrap().is_symlink());
    assert_eq!(names(folder.path()), ["a"]);
}

#[test]
fn the_empty_path_and_a_folder_are_errors() {
    assert_eq!(save("", "content").unwrap_err().to_string(), "the path is empty");
    let folder = tempdir().unwrap();
    assert_eq!(save(folder.path(), "content").unwrap_err().kind(), ErrorKind::IsADirectory);
    let missing = folder.path().join("missing/model");
    assert_eq!(save(missing, "content").unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(names(folder.path()), [""; 0]);
}

#[test]
fn names_may_be_as_long_as_the_file_system_allows() {
    let folder = tempdir().unwrap();
    for length in [250, 255] {
        let path = folder.path().join("n".repeat(length));
        save(&path, "content").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "content");
    }
    assert!(save(folder.path().join("n".repeat(256)), "content").is_err());
    assert_eq!(names(folder.path()).len(), 2);
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_device_is_an_error_and_is_still_there() {
    let folder = tempdir().unwrap();
    let link = folder.path().join("full");
    symlink("/dev/full", &link).unwrap();
    for path in [Path::new("/dev/full"), &link] {
        let error = save(path, vec![1; 100_000]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::StorageFull, "{error}");
    }
    assert!(fs::symlink_metadata("/dev/full").unwrap().file_type().is_char_device());
    save("/dev/null", "content").unwrap();
    assert!(fs::symlink_metadata("/dev/null").unwrap().file_type().is_char_device());
    assert_eq!(names(folder.path()), ["full"]);
}

#[test]
fn what_fails_leaves_the_old_file_and_nothing_else() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("model");
    save(&path, "old").unwrap();
    let failed = save_with(&path, |out| {
        out.write_all(&[1; 100_000])?;
        Err::<(), _>(io::Error::other("no more"))
    });
    assert_eq!(failed.unwrap_err().to_string(), "no more");
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(names(folder.path()), ["model"]);
}

fn fifo(path: &Path) {
    let name = CString::new(path.as_os_str().as_bytes()).unwrap();
    // SAFETY: the name ends with NUL and lives until the call has returned.
    #[allow(unsafe_code, reason = "makes a FIFO")]
    let failed = unsafe { libc::mkfifo(name.as_ptr(), 0o600) };
    assert_eq!(failed, 0);
}

#[test]
fn a_fifo_is_written_to_if_somebody_reads_and_is_an_error_else() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("fifo");
    fifo(&path);
    let error = save(&path, "content").unwrap_err();
    assert_eq!(error.to_string(), "it is a FIFO, and nobody reads from it");
    // Opened for reading and writing, so that opening does not wait.
    let mut reader = OpenOptions::new().read(true).write(true).open(&path).unwrap();
    let much = vec![7; 1 << 20]; // more than it holds: the writer waits for the reader
    let read = thread::scope(|scope| {
        scope.spawn(|| save(&path, &much).unwrap());
        let mut read = vec![0; much.len()];
        reader.read_exact(&mut read).unwrap();
        read
    });
    assert!(read == much);
    assert!(fs::symlink_metadata(&path).unwrap().file_type().is_fifo());
}

#[test]
fn a_target_can_be_tried_out_without_a_change() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("model");
    Target::find(&path).unwrap().try_out().unwrap();
    assert_eq!(names(folder.path()), [""; 0]);
    let target = Target::find("/dev/null").unwrap();
    target.try_out().unwrap();
    assert!(Target::find(folder.path().join("missing/model")).is_err());
}

/// Runs this test program again, for one of the tests below.
fn child(work: &str, folder: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "the_work_of_a_child", "--nocapture"]);
    command.env(CHILD, format!("{work}:{}", folder.display()));
    command.stdout(Stdio::null());
    command
}

/// The content that each writer saves: one byte, repeated.
fn content(writer: u8) -> Vec<u8> {
    vec![writer; 300_000]
}

fn save_often(path: &Path, writers: [u8; 2]) {
    thread::scope(|scope| {
        for writer in writers {
            scope.spawn(move || (0..60).for_each(|_| save(path, content(writer)).unwrap()));
        }
    });
}

/// Does nothing except in a process that another test has started.
#[test]
fn the_work_of_a_child() {
    let Some(work) = std::env::var_os(CHILD) else { return };
    let work = work.into_string().unwrap();
    let (work, folder) = work.split_once(':').unwrap();
    let path = Path::new(folder).join("model");
    match work {
        "often" => save_often(&path, [3, 4]),
        "limited" => {
            let error = save(&path, content(1)).unwrap_err();
            assert_eq!(error.raw_os_error(), Some(libc::EFBIG), "{error}");
        }
        "stdout" => {
            print!("printed, ");
            io::stdout().flush().unwrap();
            save("/dev/stdout", "saved").unwrap();
        }
        other => panic!("{other}"),
    }
}

#[test]
fn readers_find_whole_files_while_threads_and_processes_save() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("model");
    save(&path, content(0)).unwrap();
    let mut other = child("often", folder.path()).spawn().unwrap();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut looks = 0;
            while !is_over.load(Ordering::Relaxed) {
                let read = fs::read(&path).unwrap();
                assert!(read == content(read[0]), "{} bytes that begin with {:?}", read.len(), read.first());
                looks += 1;
            }
            looks
        });
        save_often(&path, [1, 2]);
        assert!(other.wait().unwrap().success());
        is_over.store(true, Ordering::Relaxed);
        assert!(reader.join().unwrap() > 0);
    });
    assert_eq!(names(folder.path()), ["model"]);
}

#[test]
fn a_limit_on_the_size_of_files_is_an_error() {
    let folder = tempdir().unwrap();
    save(folder.path().join("model"), "old").unwrap();
    let command = child("limited", folder.path());
    let mut limited = Command::new("sh");
    limited
        .args(["-c", "ulimit -f 16; exec \"$@\"", "sh"])
        .arg(command.get_program())
        .args(command.get_args());
    limited.envs(command.get_envs().map(|(name, value)| (name, value.unwrap())));
    let ended = limited.stdout(Stdio::null()).status().unwrap();
    assert!(ended.success(), "{ended}");
    assert_eq!(fs::read_to_string(folder.path().join("model")).unwrap(), "old");
    assert_eq!(names(folder.path()), ["model"]);
}

#[test]
#[cfg(target_os = "linux")]
fn an_open_file_is_written_behind_what_it_holds() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("out");
    let out = File::create(&path).unwrap();
    let inode = out.metadata().unwrap().ino();
    assert!(child("stdout", folder.path()).stdout(out).status().unwrap().success());
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains("printed, saved"), "{text}");
    assert_eq!(fs::metadata(&path).unwrap().ino(), inode);
}
