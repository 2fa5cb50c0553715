//! [`Npy`]: an array that NumPy's `save` has written.
//!
//! The format: "A Simple File Format for NumPy Arrays" (NEP 1), versions 1 to 3. After the magic number come the length
//! of the header and the header, a dictionary of Python: `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`.

use std::fs;
use std::path::{Path, PathBuf};

use dahl::f16;

use crate::error::{Error, Result};

const MAGIC: &[u8] = b"\x93NUMPY";

/// An array of numbers.
#[derive(Debug, PartialEq)]
pub(super) struct Npy {
    pub(super) path: PathBuf,
    pub(super) shape: Vec<usize>,
    /// In row-major order.
    pub(super) elements: Vec<f64>,
    /// Bytes before the elements, and of each.
    places: [usize; 2],
}

/// The types of elements that are read.
#[derive(Clone, Copy)]
enum Kind {
    Float,
    Signed,
    Unsigned,
}

impl Npy {
    /// The array in the file at `path`.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let bytes = fs::read(path).map_err(|error| Error::Io { path: path.to_owned(), error })?;
        Self::parse(path, &bytes)
    }

    fn parse(path: &Path, bytes: &[u8]) -> Result<Self> {
        let wrong = |offset: usize, expected: &str, found: String| Error::Format {
            path: path.to_owned(),
            offset,
            expected: expected.to_owned(),
            found,
        };
        let end = || wrong(bytes.len(), "a header", "the end of the file".to_owned());
        let magic = bytes.get(..MAGIC.len()).ok_or_else(end)?;
        if magic != MAGIC {
            return Err(wrong(0, "the magic number \\x93NUMPY", format!("{magic:02x?}")));
        }
        let &[version, _, a, b, c, d] = bytes[MAGIC.len()..].first_chunk().ok_or_else(end)?;
        let (start, len) = match version {
            1 => (10_usize, usize::from(u16::from_le_bytes([a, b]))),
            2 | 3 => (12, u32::from_le_bytes([a, b, c, d]) as usize),
            _ => return Err(wrong(6, "version 1, 2 or 3", version.to_string())),
        };
        let header = bytes.get(start..start.saturating_add(len)).ok_or_else(end)?;
        let header = String::from_utf8_lossy(header);
        let entry = |key: &str| {
            let after = header.split_once(&format!("'{key}':")).map(|(_, after)| after.trim_start());
            after.ok_or_else(|| wrong(start, &format!("an entry '{key}'"), header.trim_end().to_owned()))
        };
        let (kind, width, is_big) = element(entry("descr")?).ok_or_else(|| {
            let expected = "whole numbers, floating-point numbers or booleans";
            let descr = entry("descr").unwrap_or_default().split(',').next().unwrap_or_default();
            wrong(start, expected, descr.to_owned())
        })?;
        let is_column_major = entry("fortran_order")?.starts_with("True");
        let shape = extents(entry("shape")?).ok_or_else(|| {
            wrong(start, "a shape", entry("shape").unwrap_or_default().trim_end().to_owned())
        })?;
        let places = [start + len, width];
        let data = &bytes[places[0]..];
        let len = shape.iter().try_fold(width, |len, &extent| len.checked_mul(extent));
        if len != Some(data.len()) {
            let len = len.map_or("more".to_owned(), |len| len.to_string());
            let expected = format!("{len} bytes of elements for {shape:?}");
            return Err(wrong(bytes.len(), &expected, format!("{} bytes", data.len())));
        }
        let number = |bytes: &[u8]| decode(bytes, kind, is_big);
        let elements: Vec<f64> = data.chunks_exact(width).map(number).collect();
        let elements = if is_column_major { row_major(&shape, &elements) } else { elements };
        Ok(Self { path: path.to_owned(), shape, elements, places })
    }

    /// An error about the byte at `offset`.
    pub(super) fn wrong(&self, offset: usize, expected: String, found: String) -> Error {
        Error::Format { path: self.path.clone(), offset, expected, found }
    }

    /// The elements as labels: an array of one axis with whole numbers from 0.
    pub(super) fn labels(&self) -> Result<Vec<u32>> {
        if self.shape.len() != 1 {
            let found = format!("an array of shape {:?}", self.shape);
            return Err(self.wrong(0, "an array with one axis".to_owned(), found));
        }
        let label = |(index, &element): (usize, &f64)| {
            let label = element as u32;
            if f64::from(label) == element {
                return Ok(label);
            }
            let offset = self.places[0] + index * self.places[1];
            Err(self.wrong(offset, "a label: a whole number from 0".to_owned(), element.to_string()))
        };
        self.elements.iter().enumerate().map(label).collect()
    }
}

/// The kind, the bytes and the order of an element: of `'<f4'`, `'|u1'`, `'>i8'`.
fn element(text: &str) -> Option<(Kind, usize, bool)> {
    let (descr, _) = text.strip_prefix('\'')?.split_once('\'')?;
    let (order, rest) = descr.split_at_checked(1)?;
    let (kind, width) = rest.split_at_checked(1)?;
    let (kind, widths): (Kind, &[usize]) = match kind {
        "f" => (Kind::Float, &[2, 4, 8]),
        "i" => (Kind::Signed, &[1, 2, 4, 8]),
        "u" => (Kind::Unsigned, &[1, 2, 4, 8]),
        "b" => (Kind::Unsigned, &[1]),
        _ => return None,
    };
    let width = width.parse().ok().filter(|width| widths.contains(width))?;
    match order {
        "<" | "|" | "=" => Some((kind, width, false)),
        ">" => Some((kind, width, true)),
        _ => None,
    }
}

/// The numbers of `(3, 4)`, `(3,)` or `()`.
fn extents(text: &str) -> Option<Vec<usize>> {
    let (inside, _) = text.strip_prefix('(')?.split_once(')')?;
    let inside = inside.trim().trim_end_matches(',');
    if inside.is_empty() {
        return Some(Vec::new());
    }
    inside.split(',').map(|extent| extent.trim().parse().ok()).collect()
}

/// The number with these bytes.
fn decode(bytes: &[u8], kind: Kind, is_big: bool) -> f64 {
    // Sign or zeros above, so that every width is one of eight bytes.
    let mut wide = [0_u8; 8];
    let little = &mut wide[..bytes.len()];
    little.copy_from_slice(bytes);
    if is_big {
        little.reverse();
    }
    let bits = u64::from_le_bytes(wide);
    let unused = 64 - 8 * bytes.len() as u32;
    match (kind, bytes.len()) {
        (Kind::Float, 2) => f16::from_bits(bits as u16).to_f64(),
        (Kind::Float, 4) => f64::from(f32::from_bits(bits as u32)),
        (Kind::Float, _) => f64::from_bits(bits),
        (Kind::Signed, _) => (((bits << unused) as i64) >> unused) as f64,
        (Kind::Unsigned, _) => bits as f64,
    }
}

/// Brings elements whose first axis varies fastest into row-major order.
fn row_major(shape: &[usize], elements: &[f64]) -> Vec<f64> {
    let mut ordered = Vec::with_capacity(elements.len());
    for index in 0..elements.len() {
        let (mut rest, mut place, mut stride) = (index, 0, elements.len());
        for &extent in shape.iter().rev() {
            stride /= extent;
            place += rest % extent * stride;
            rest /= extent;
        }
        ordered.push(elements[place]);
    }
    ordered
}
