//! Errors outside of tasks: data files, parameter files, shapes of layers.

use std::io;
use std::panic::Location;
use std::path::PathBuf;

/// The result of a call that can fail with an [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// Why a call failed. The text names the file or layer, the place in it, and what was expected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or folder cannot be read or written.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// A file of a data set is missing.
    #[error("{}: neither `{name}` nor `{name}.gz` is there; {hint}", folder.display())]
    MissingFile {
        /// The folder.
        folder: PathBuf,
        /// The file without `.gz`.
        name: &'static str,
        /// Where it comes from.
        hint: &'static str,
    },
    /// A file has an unexpected content.
    #[error("{}: at byte {offset}: expected {expected}, found {found}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// The place, in the unpacked bytes.
        offset: usize,
        /// What should be there.
        expected: String,
        /// What is there.
        found: String,
    },
    /// Two files of a data set do not agree.
    #[error("{}: {images} images, but {}: {labels} labels", images_path.display(), labels_path.display())]
    Counts {
        /// The file of images.
        images_path: PathBuf,
        /// The number of images.
        images: usize,
        /// The file of labels.
        labels_path: PathBuf,
        /// The number of labels.
        labels: usize,
    },
    /// A layer cannot follow the ones before it.
    #[error("layer {index} ({layer}): {fact}")]
    Layer {
        /// Its place in the network.
        index: usize,
        /// Its name.
        layer: &'static str,
        /// What does not fit.
        fact: String,
    },
    /// A file of parameters does not match the model; nothing was loaded.
    #[error("{}: tensor `{tensor}`: expected {expected}, found {found}; nothing was loaded", path.display())]
    Tensor {
        /// The file.
        path: PathBuf,
        /// The tensor.
        tensor: String,
        /// What the model has.
        expected: String,
        /// What the file has.
        found: String,
    },
    /// An invalid setting.
    #[error("{setting} = {value}: expected {expected}; set at {location}")]
    Setting {
        /// The setting.
        setting: &'static str,
        /// Its value.
        value: String,
        /// The valid values.
        expected: &'static str,
        /// The line that set it.
        location: &'static Location<'static>,
    },
    /// The loss does not depend on a parameter that is to learn.
    #[error("the loss does not depend on parameter `{parameter}`: freeze it, or use it; at {location}")]
    Unused {
        /// Its name in the model.
        parameter: String,
        /// The call.
        location: &'static Location<'static>,
    },
    /// A data set does not match the model.
    #[error("the model takes samples of shape {expected:?}, the data set has {found:?}")]
    SampleShape {
        /// What the model takes.
        expected: Vec<usize>,
        /// What the data set has.
        found: Vec<usize>,
    },
    /// A data set has labels that the model cannot predict.
    #[error("the model has {outputs} outputs, the data set has {classes} classes")]
    Classes {
        /// What the model predicts.
        outputs: usize,
        /// What the data set has.
        classes: usize,
    },
    /// A data set has a label that is not one of its classes.
    #[error("sample {sample} of the data set has label {label}: expected a label below {classes}")]
    Label {
        /// The number of the sample.
        sample: usize,
        /// Its label.
        label: u32,
        /// The number of classes.
        classes: usize,
    },
    /// A data set without samples.
    #[error("{call}: the data set has no samples")]
    NoSamples {
        /// The call.
        call: &'static str,
    },
    /// An error of the runtime.
    #[error(transparent)]
    Runtime(#[from] dahl::Error),
}

impl From<Error> for dahl::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Runtime(error) => error,
            error => dahl::Error::other(error),
        }
    }
}
