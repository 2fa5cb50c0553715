//! [`FashionMnist`]: 28 by 28 pictures of clothes in ten classes.

use std::path::{Path, PathBuf};

use super::idx::{TEST_FILES, TRAIN_FILES};
use super::images::Images;
use super::packed_file::unpack;
use crate::error::Result;

const CLASSES: usize = 10;
const PIXELS: [usize; 2] = [28, 28];

/// The folder of the files of Debian's package `dataset-fashion-mnist`.
const DEBIAN_FOLDER: &str = "/usr/share/datasets/fashion-mnist";

const HINT: &str = "Debian's package dataset-fashion-mnist has the files";

/// Fashion-MNIST: 60,000 training and 10,000 test pictures of clothes in ten classes, 28 by 28 grey pixels.
///
/// Xiao, Rasul, Vollgraf 2017, "Fashion-MNIST: a Novel Image Dataset for Benchmarking Machine Learning Algorithms",
/// arXiv:1708.07747.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FashionMnist {
    /// The images to train on.
    pub train: Images,
    /// The images to test with.
    pub test: Images,
}

impl FashionMnist {
    /// The names of the classes, by label.
    pub const CLASSES: [&'static str; CLASSES] = [
        "T-shirt/top",
        "Trouser",
        "Pullover",
        "Dress",
        "Coat",
        "Sandal",
        "Shirt",
        "Sneaker",
        "Bag",
        "Ankle boot",
    ];

    /// A part of the real set that comes with the crate: 6,000 training and 1,000 test images, the same number of each
    /// class, in the order of the real set.
    ///
    /// # Errors
    /// None, unless the crate itself is damaged.
    pub fn embedded() -> dahl::Result<Self> {
        let file = |name: &str, bytes: &[u8]| -> Result<(PathBuf, Vec<u8>)> {
            let path = PathBuf::from(format!("(embedded) {name}.gz"));
            let bytes = unpack(&path, bytes)?;
            Ok((path, bytes))
        };
        macro_rules! embedded {
            ($name:literal) => {
                file($name, include_bytes!(concat!("../../data/fashion-mnist/", $name, ".gz")))?
            };
        }
        let pair = |images: (PathBuf, Vec<u8>), labels: (PathBuf, Vec<u8>)| {
            Images::from_idx((&images.0, &images.1), (&labels.0, &labels.1), PIXELS, CLASSES, usize::MAX)
        };
        let train = pair(embedded!("train-images-idx3-ubyte"), embedded!("train-labels-idx1-ubyte"))?;
        let test = pair(embedded!("t10k-images-idx3-ubyte"), embedded!("t10k-labels-idx1-ubyte"))?;
        Ok(Self { train, test })
    }

    /// The set whose four IDX files are in `folder`, plain or gzipped.
    ///
    /// # Errors
    /// If a file is missing, cannot be read or has another format: the error names the file, the offset and what was
    /// expected.
    pub fn open(folder: impl AsRef<Path>) -> dahl::Result<Self> {
        Self::open_limited(folder, usize::MAX, usize::MAX)
    }

    /// As [`open`](Self::open), with at most so many training and test images.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_limited(folder: impl AsRef<Path>, train: usize, test: usize) -> dahl::Result<Self> {
        let folder = folder.as_ref();
        let train = Images::from_idx_folder(folder, TRAIN_FILES, HINT, PIXELS, CLASSES, train)?;
        let test = Images::from_idx_folder(folder, TEST_FILES, HINT, PIXELS, CLASSES, test)?;
        Ok(Self { train, test })
    }

    /// The set in the folder of Debian's package `dataset-fashion-mnist`.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn installed() -> dahl::Result<Self> {
        Self::open(DEBIAN_FOLDER)
    }

    /// Whether Debian's package `dataset-fashion-mnist` is installed.
    pub fn is_installed() -> bool {
        Path::new(DEBIAN_FOLDER).is_dir()
    }
}
