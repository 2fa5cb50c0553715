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
    /// A parameter is a part or a view of another array, of which a pipeline cannot keep several versions.
    #[error(
        "parameter `{parameter}` is a part or a view of another array; a pipeline that stashes needs whole ones"
    )]
    PartOfArray {
        /// Its name.
        parameter: String,
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
    /// There is a number of features that is not that of the samples.
    #[error("{features} features: expected those of {labels} labels with samples of shape {shape:?}")]
    Features {
        /// The number of features.
        features: usize,
        /// The number of labels.
        labels: usize,
        /// The shape of a sample.
        shape: Vec<usize>,
    },
    /// A transform does not accept the samples of a data set.
    #[error("{transform}: expected {expected}, found samples of shape {found:?}")]
    TransformShape {
        /// The transform.
        transform: &'static str,
        /// What it accepts.
        expected: String,
        /// The shape of the samples.
        found: Vec<usize>,
    },
    /// A transform does not accept a feature of a sample.
    #[error("{transform}: expected {expected}, found {found}")]
    Feature {
        /// The transform.
        transform: &'static str,
        /// What it accepts.
        expected: String,
        /// The feature.
        found: f64,
    },
    /// A data set has no sample of this number.
    #[error("there is no sample {sample}: the data set has {samples} samples")]
    Sample {
        /// The number.
        sample: usize,
        /// The number of samples.
        samples: usize,
    },
    /// The code that reads a sample panicked.
    #[error("sample {sample} of the data set: reading it panicked: {message}")]
    Panic {
        /// The number of the sample.
        sample: usize,
        /// The panic's message.
        message: String,
    },
    /// The system starts no further thread.
    #[error("a thread that reads samples cannot be started: {error}")]
    Thread {
        /// What the system says.
        error: io::Error,
    },
    /// A character has no token.
    #[error("at byte {place}: the character {character:?} has no token")]
    Character {
        /// The place in the text.
        place: usize,
        /// The character.
        character: char,
    },
    /// A vocabulary does not have a token.
    #[error("there is no token {token}: the vocabulary has {vocabulary}")]
    Token {
        /// The token.
        token: u32,
        /// The number of tokens in the vocabulary.
        vocabulary: usize,
    },
    /// A tokenizer of the crate `tokenizers` failed.
    #[error("{}: {message}", path.display())]
    Tokenizer {
        /// Its file.
        path: PathBuf,
        /// What the crate says.
        message: String,
    },
    /// There are not as many predictions as labels.
    #[error("{metric}: {predictions} predictions, but {labels} labels")]
    Predictions {
        /// The metric.
        metric: &'static str,
        /// The number of predictions.
        predictions: usize,
        /// The number of labels.
        labels: usize,
    },
    /// A prediction or a label is no class of a metric.
    #[error("{metric}: class {class}: expected a class below {classes}")]
    Class {
        /// The metric.
        metric: &'static str,
        /// The class.
        class: u32,
        /// The number of classes.
        classes: usize,
    },
    /// There is a number of scores that is not that of the labels.
    #[error("{metric}: {scores} scores for {labels} labels: expected a score of each class for each label")]
    Scores {
        /// The metric.
        metric: &'static str,
        /// The number of scores.
        scores: usize,
        /// The number of labels.
        labels: usize,
    },
    /// A checkpoint does not match the training that is to go on from it; nothing was loaded.
    #[error("{}: {what}: expected {expected}, found {found}; nothing was loaded", path.display())]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// What does not match.
        what: String,
        /// What the trainer has.
        expected: String,
        /// What the file has.
        found: String,
    },
    /// A folder has checkpoints of another training.
    #[error(
        "{}: a checkpoint of another training is there: go on from it by `resume`, or take another folder",
        path.display()
    )]
    OtherRun {
        /// The checkpoint.
        path: PathBuf,
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
