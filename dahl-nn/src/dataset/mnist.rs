//! [`Mnist`]: 28 by 28 pictures of handwritten digits.

use std::path::Path;

use super::idx::{TEST_FILES, TRAIN_FILES};
use super::images::Images;

const CLASSES: usize = 10;
const PIXELS: [usize; 2] = [28, 28];
const HINT: &str = "https://yann.lecun.com/exdb/mnist describes the files";

/// MNIST: 60,000 training and 10,000 test pictures of handwritten digits, 28 by 28 grey pixels.
///
/// LeCun, Bottou, Bengio, Haffner 1998, "Gradient-Based Learning Applied to Document Recognition".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mnist {
    /// The images to train on.
    pub train: Images,
    /// The images to test with.
    pub test: Images,
}

impl Mnist {
    /// The set whose four IDX files are in `folder`, plain or gzipped.
    ///
    /// # Errors
    /// If a file is missing, cannot be read or has another format: the error names the file, the offset and what was
    /// expected.
    pub fn open(folder: impl AsRef<Path>) -> dahl::Result<Self> {
        let folder = folder.as_ref();
        let train = Images::from_idx_folder(folder, TRAIN_FILES, HINT, PIXELS, CLASSES, usize::MAX)?;
        let test = Images::from_idx_folder(folder, TEST_FILES, HINT, PIXELS, CLASSES, usize::MAX)?;
        Ok(Self { train, test })
    }
}
