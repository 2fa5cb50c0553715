//! [`FashionMnist`]: 28 by 28 pictures of clothes in ten classes.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::bufread::GzDecoder;

use super::images::Images;
use crate::error::{Error, Result};

const CLASSES: usize = 10;
const PIXELS: [usize; 2] = [28, 28];

/// The folder of the files of Debian's package `dataset-fashion-mnist`.
const DEBIAN_FOLDER: &str = "/usr/share/datasets/fashion-mnist";

/// Bytes that an unpacked file may have; the largest has 47,040,016.
const LIMIT_BYTES: u64 = 1 << 30;

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
        let train = read_pair(folder, "train-images-idx3-ubyte", "train-labels-idx1-ubyte", train)?;
        let test = read_pair(folder, "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte", test)?;
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

fn read_pair(folder: &Path, images: &'static str, labels: &'static str, limit: usize) -> Result<Images> {
    let (image_path, image_bytes) = read(folder, images)?;
    let (label_path, label_bytes) = read(folder, labels)?;
    Images::from_idx((&image_path, &image_bytes), (&label_path, &label_bytes), PIXELS, CLASSES, limit)
}

/// The file `name` or `name.gz`, unpacked.
fn read(folder: &Path, name: &'static str) -> Result<(PathBuf, Vec<u8>)> {
    let (plain, packed) = (folder.join(name), folder.join(format!("{name}.gz")));
    // A folder that may not be searched is not one without the file.
    let is_there =
        |path: &Path| path.try_exists().map_err(|error| Error::Io { path: path.to_owned(), error });
    let (path, is_packed) = if is_there(&plain)? { (plain, false) } else { (packed, true) };
    if !is_there(&path)? {
        let hint = "Debian's package dataset-fashion-mnist has the files";
        return Err(Error::MissingFile { folder: folder.to_owned(), name, hint });
    }
    let bytes = fs::read(&path).map_err(|error| Error::Io { path: path.clone(), error })?;
    let bytes = if is_packed { unpack(&path, &bytes)? } else { bytes };
    Ok((path, bytes))
}

fn unpack(path: &Path, packed: &[u8]) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let wrong = |offset: usize, expected: String, found: String| Error::Format {
        path: path.to_owned(),
        offset,
        expected,
        found,
    };
    let mut rest = packed;
    loop {
        let left = (LIMIT_BYTES + 1).saturating_sub(bytes.len() as u64);
        let mut decoder = GzDecoder::new(rest).take(left);
        let result = decoder.read_to_end(&mut bytes);
        result.map_err(|error| wrong(bytes.len(), "gzip data".to_owned(), error.to_string()))?;
        rest = decoder.into_inner().into_inner();
        // After a member may come another one, or zeros, as tapes and block devices leave them.
        if bytes.len() as u64 > LIMIT_BYTES || rest.iter().all(|byte| *byte == 0) {
            break;
        }
    }
    if bytes.len() as u64 > LIMIT_BYTES {
        return Err(wrong(bytes.len(), format!("the end within {LIMIT_BYTES} bytes"), "more".to_owned()));
    }
    Ok(bytes)
}
