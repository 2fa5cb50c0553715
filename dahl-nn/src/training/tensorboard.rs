//! [`TensorBoard`]: event files for TensorBoard.
//!
//! An event file is a sequence of records (TFRecord): the length of the data, a checksum of the length, the data, and a
//! checksum of the data. The data are a message `Event` in the encoding of protocol buffers, here written by hand:
//!
//! ```text
//! message Event      { double wall_time = 1; int64 step = 2; string file_version = 3; Summary summary = 5;
//!                      SessionLog session_log = 7; }
//! message Summary    { repeated Value value = 1; message Value { string tag = 1; float simple_value = 2; } }
//! message SessionLog { enum SessionStatus { START = 1; } SessionStatus status = 1; }
//! ```

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::error::Error;

/// The beginning of the names of event files.
const PREFIX: &str = "events.out.tfevents.";

/// What the first event of a file says.
const FILE_VERSION: &str = "brain.Event:2";

/// Writes an event file for TensorBoard: scalars by name and step, each at once, so that a running TensorBoard shows them.
///
/// ```no_run
/// use dahl_nn::training::TensorBoard;
///
/// let mut events = TensorBoard::create("runs/first")?;
/// for step in 0..100 {
///     events.scalar("loss", step, 1.0 / (1.0 + step as f64))?;
/// }
/// # Ok::<(), dahl::Error>(())
/// ```
#[derive(Debug)]
pub struct TensorBoard {
    path: PathBuf,
    file: File,
}

impl TensorBoard {
    /// Makes a new file `events.out.tfevents.*` in `folder`, and the folder if it is not there. TensorBoard takes the
    /// folder's name as that of the run, and shows the files of a run as one.
    ///
    /// # Errors
    /// If the file cannot be made or written.
    pub fn create(folder: impl AsRef<Path>) -> dahl::Result<Self> {
        let folder = folder.as_ref();
        let failed = |error| Error::Io { path: folder.to_owned(), error };
        fs::create_dir_all(folder).map_err(failed)?;
        let (path, file) = new_file(folder).map_err(failed)?;
        let mut events = Self { path, file };
        events.write(&version(now()))?;
        Ok(events)
    }

    /// As [`create`](Self::create), for a run that goes on from step `step`: TensorBoard forgets what earlier files of the
    /// folder have of this step and later ones.
    ///
    /// # Errors
    /// If the file cannot be made or written.
    pub fn restart(folder: impl AsRef<Path>, step: u64) -> dahl::Result<Self> {
        let mut events = Self::create(folder)?;
        events.write(&start(now(), step))?;
        Ok(events)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds a value of the scalar `tag`. TensorBoard groups scalars by what is before a `/`, and keeps values as `f32`.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn scalar(&mut self, tag: &str, step: u64, value: f64) -> dahl::Result<()> {
        self.write(&scalar(now(), tag, step, value as f32))
    }

    fn write(&mut self, event: &[u8]) -> dahl::Result<()> {
        let path = &self.path;
        let written = self.file.write_all(&record(event));
        Ok(written.map_err(|error| Error::Io { path: path.clone(), error })?)
    }
}

/// A new file. TensorBoard reads the files of a folder in the order of their names, which begin with the time: that of
/// this file is after those that are there.
fn new_file(folder: &Path) -> io::Result<(PathBuf, File)> {
    let process = std::process::id();
    let (mut seconds, mut number) = (now() as u64, 0);
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let of_file =
            name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split('.').next()?.parse().ok());
        seconds = of_file.map_or(seconds, |of_file: u64| seconds.max(of_file.saturating_add(1)));
    }
    loop {
        let path = folder.join(format!("{PREFIX}{seconds:010}.dahl.{process}.{number}"));
        match OpenOptions::new().append(true).create_new(true).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            opened => return opened.map(|file| (path, file)),
        }
    }
}

/// Seconds since 1970.
fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64())
}

/// The event that begins a file.
fn version(wall_time: f64) -> Vec<u8> {
    let mut event = wall_time_field(wall_time);
    write_bytes(&mut event, 3, FILE_VERSION.as_bytes());
    event
}

/// The event of a value.
fn scalar(wall_time: f64, tag: &str, step: u64, value: f32) -> Vec<u8> {
    let mut of_value = Vec::new();
    write_bytes(&mut of_value, 1, tag.as_bytes());
    of_value.push(key(2, 5));
    of_value.extend(value.to_le_bytes());
    let mut summary = Vec::new();
    write_bytes(&mut summary, 1, &of_value);
    let mut event = wall_time_field(wall_time);
    if step > 0 {
        event.push(key(2, 0));
        write_varint(&mut event, step);
    }
    write_bytes(&mut event, 5, &summary);
    event
}

/// The event after which TensorBoard forgets earlier events of this step and later ones.
fn start(wall_time: f64, step: u64) -> Vec<u8> {
    let mut event = wall_time_field(wall_time);
    if step > 0 {
        event.push(key(2, 0));
        write_varint(&mut event, step);
    }
    write_bytes(&mut event, 7, &[key(1, 0), 1]);
    event
}

fn wall_time_field(wall_time: f64) -> Vec<u8> {
    [&[key(1, 1)], &wall_time.to_le_bytes()[..]].concat()
}

/// The key of a field: its number and its type: 0 for a varint, 1 for 64 bits, 2 for bytes with their length, 5 for 32
/// bits.
fn key(field: u8, kind: u8) -> u8 {
    (field << 3) | kind
}

fn write_bytes(message: &mut Vec<u8>, field: u8, bytes: &[u8]) {
    message.push(key(field, 2));
    write_varint(message, bytes.len() as u64);
    message.extend(bytes);
}

/// Seven bits a byte, the lowest first; all but the last byte have the highest bit set.
fn write_varint(message: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        message.push(number as u8 | 0x80);
        number >>= 7;
    }
    message.push(number as u8);
}

/// The record of an event.
fn record(event: &[u8]) -> Vec<u8> {
    let len = (event.len() as u64).to_le_bytes();
    let (len_checksum, checksum) = (masked_checksum(&len), masked_checksum(event));
    [&len, &len_checksum.to_le_bytes()[..], event, &checksum.to_le_bytes()].concat()
}

/// A CRC-32C, rotated by 15 bits and moved, as TFRecord stores it: a checksum of data that contain checksums.
fn masked_checksum(bytes: &[u8]) -> u32 {
    crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8)
}

/// CRC-32C, with the polynomial of Castagnoli, Bräuer, Herrmann 1993; bit by bit, since events are short.
fn crc32c(bytes: &[u8]) -> u32 {
    let of_bit = |crc: u32| (crc >> 1) ^ (0x82f6_3b78 & (crc & 1).wrapping_neg());
    !bytes.iter().fold(!0, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), |crc, _| of_bit(crc)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What TensorBoard's own writer writes for these events: `tests/records/fixture/make_events.py`.
    const FIXTURE: &[u8] = include_bytes!("../../tests/records/fixture/events.out.tfevents.fixture");

    #[test]
    fn the_bytes_are_those_of_tensorboards_writer() {
        let long = "tag/".repeat(50);
        let events = [
            version(1_700_000_000.25),
            scalar(1_700_000_001.5, "loss/train", 0, 2.5),
            scalar(1_700_000_002.5, "loss/train", 1, 0.0),
            scalar(1_700_000_003.5, "accuracy", 300, -0.1),
            scalar(0.0001, &long, u64::from(u32::MAX) + 1, f32::INFINITY),
            scalar(1_700_000_004.5, "ü", 127, f32::MAX),
        ];
        let bytes: Vec<u8> = events.iter().flat_map(|event| record(event)).collect();
        assert_eq!(bytes, FIXTURE);
    }

    #[test]
    fn the_checksum_is_crc_32c() {
        // RFC 3720, appendix B.4.
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
    }
}
