//! IDX files, the format of MNIST: a magic number, big-endian extents, and the elements.
//!
//! The magic number is `00 00 08 RANK`; 08 says that elements are unsigned bytes
//! (LeCun, Cortes, Burges: <http://yann.lecun.com/exdb/mnist/>, "File formats").

use std::path::Path;

use crate::error::{Error, Result};

/// The files of images and labels that MNIST, and sets like it, have for training.
pub(super) const TRAIN_FILES: [&str; 2] = ["train-images-idx3-ubyte", "train-labels-idx1-ubyte"];

/// The files of images and labels to test with.
pub(super) const TEST_FILES: [&str; 2] = ["t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"];

/// The elements of an IDX file of `RANK` axes.
#[derive(Debug)]
pub(super) struct Idx<'a, const RANK: usize> {
    pub(super) extents: [usize; RANK],
    pub(super) data: &'a [u8],
    /// Bytes before the elements.
    pub(super) data_offset: usize,
}

impl<'a, const RANK: usize> Idx<'a, RANK> {
    /// The file whose unpacked bytes are `bytes`.
    pub(super) fn parse(path: &Path, bytes: &'a [u8]) -> Result<Self> {
        let wrong = |offset: usize, expected: String, found: String| Error::Format {
            path: path.to_owned(),
            offset,
            expected,
            found,
        };
        let data_offset = 4 * (1 + RANK);
        let header = bytes.get(..data_offset).ok_or_else(|| {
            wrong(bytes.len(), format!("a header of {data_offset} bytes"), "the end of the file".to_owned())
        })?;
        let magic = [0, 0, 8, RANK as u8];
        if header[..4] != magic {
            return Err(wrong(0, format!("the magic number {magic:02x?}"), format!("{:02x?}", &header[..4])));
        }
        let word = |i: usize| u32::from_be_bytes(std::array::from_fn(|k| header[4 * i + k])) as usize;
        let extents: [usize; RANK] = std::array::from_fn(|axis| word(axis + 1));
        let data = &bytes[data_offset..];
        let len = extents.iter().try_fold(1_usize, |len, &extent| len.checked_mul(extent));
        match len {
            Some(len) if len == data.len() => Ok(Self { extents, data, data_offset }),
            _ => {
                let len = len.map_or("more".to_owned(), |len| len.to_string());
                let offset = data_offset + data.len();
                Err(wrong(
                    offset,
                    format!("{len} bytes of elements for {extents:?}"),
                    format!("{} bytes", data.len()),
                ))
            }
        }
    }
}
