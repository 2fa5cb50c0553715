//! [`Cifar10`]: 32 by 32 colour pictures of things and animals in ten classes.

use std::path::Path;

use super::images::Images;
use super::packed_file;
use crate::error::{Error, Result};

const CLASSES: usize = 10;
const SHAPE: [usize; 3] = [3, 32, 32];

/// Bytes of the pixels of an image.
const PIXELS: usize = 3 * 32 * 32;

const TRAIN_FILES: [&str; 5] =
    ["data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"];
const TEST_FILES: [&str; 1] = ["test_batch.bin"];
const HINT: &str = "cifar-10-binary.tar.gz of https://www.cs.toronto.edu/~kriz/cifar.html has the files";

/// CIFAR-10: 50,000 training and 10,000 test pictures in ten classes, 32 by 32 pixels in red, green and blue.
///
/// Krizhevsky 2009, "Learning Multiple Layers of Features from Tiny Images".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cifar10 {
    /// The images to train on.
    pub train: Images,
    /// The images to test with.
    pub test: Images,
}

impl Cifar10 {
    /// The names of the classes, by label.
    pub const CLASSES: [&'static str; CLASSES] =
        ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"];

    /// The set whose six files of the binary version are in `folder`, plain or gzipped. Each file is a sequence of
    /// images: a byte for the label, and 1,024 bytes each for red, green and blue, row by row.
    ///
    /// # Errors
    /// If a file is missing, cannot be read or has another format: the error names the file, the offset and what was
    /// expected.
    pub fn open(folder: impl AsRef<Path>) -> dahl::Result<Self> {
        let folder = folder.as_ref();
        Ok(Self { train: read(folder, &TRAIN_FILES)?, test: read(folder, &TEST_FILES)? })
    }
}

fn read(folder: &Path, names: &[&'static str]) -> Result<Images> {
    let (mut pixels, mut labels) = (Vec::new(), Vec::new());
    for name in names {
        let (path, bytes) = packed_file::read(folder, name, HINT)?;
        let wrong =
            |offset, expected, found| Err(Error::Format { path: path.clone(), offset, expected, found });
        let images = bytes.chunks_exact(1 + PIXELS);
        let rest = images.remainder().len();
        if rest > 0 {
            let expected = format!("{} bytes for each image", 1 + PIXELS);
            return wrong(bytes.len() - rest, expected, format!("the end of the file after {rest} bytes"));
        }
        for (index, image) in images.enumerate() {
            if usize::from(image[0]) >= CLASSES {
                let expected = format!("a label below {CLASSES}");
                return wrong(index * (1 + PIXELS), expected, image[0].to_string());
            }
            labels.push(image[0]);
            pixels.extend_from_slice(&image[1..]);
        }
    }
    Ok(Images::new(SHAPE, CLASSES, pixels, labels))
}
