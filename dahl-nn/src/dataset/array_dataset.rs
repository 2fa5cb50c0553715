//! [`ArrayDataset`]: features and labels in memory, from a program, a CSV file or NPY files.

use std::path::Path;

use dahl::prelude::*;

use super::Dataset;
use super::csv_table::CsvTable;
use super::npy::Npy;
use crate::error::Error;

/// Features and labels in memory. Features are kept as `f64`, which holds those of every file exactly.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayDataset {
    shape: Vec<usize>,
    classes: usize,
    class_names: Vec<String>,
    features: Vec<f64>,
    labels: Vec<u32>,
}

impl ArrayDataset {
    /// Samples of shape `shape`, whose features come one sample after the other, in row-major order, with a label each.
    /// There are as many classes as the greatest label needs.
    ///
    /// # Errors
    /// If the features are not those of as many samples as there are labels.
    pub fn new(
        shape: impl Into<Vec<usize>>,
        features: impl Into<Vec<f64>>,
        labels: impl Into<Vec<u32>>,
    ) -> dahl::Result<Self> {
        let (shape, features, labels) = (shape.into(), features.into(), labels.into());
        let of_all = shape.iter().try_fold(labels.len(), |len, &extent| len.checked_mul(extent));
        if of_all != Some(features.len()) {
            return Err(Error::Features { features: features.len(), labels: labels.len(), shape }.into());
        }
        let classes = labels.iter().max().map_or(0, |&label| label as usize + 1);
        Ok(Self { shape, classes, class_names: Vec::new(), features, labels })
    }

    /// The table of a CSV file with a line of column names: a sample a line. The column `label` has the class, and every
    /// other column a number. Classes are the different texts of that column, in order: as numbers if they all are whole
    /// numbers, else as texts.
    ///
    /// # Errors
    /// If the file cannot be read or has another format: the error names the file, the offset and what was expected.
    pub fn from_csv(path: impl AsRef<Path>, label: &str) -> dahl::Result<Self> {
        let CsvTable { columns, class_names, features, labels } = CsvTable::read(path.as_ref(), label)?;
        Ok(Self { shape: vec![columns], classes: class_names.len(), class_names, features, labels })
    }

    /// The features and labels of two files that NumPy's `save` has written: `features` with the samples as its first
    /// axis, `labels` with one whole number each. There are as many classes as the greatest label needs.
    ///
    /// # Errors
    /// If a file cannot be read or has another format: the error names the file, the offset and what was expected.
    pub fn from_npy(features: impl AsRef<Path>, labels: impl AsRef<Path>) -> dahl::Result<Self> {
        let (features, labels) = (Npy::read(features.as_ref())?, Npy::read(labels.as_ref())?);
        let classes = labels.labels()?;
        let Some((&samples, shape)) = features.shape.split_first() else {
            let expected = "an array whose first axis are the samples".to_owned();
            return Err(features.wrong(0, expected, "one without axes".to_owned()).into());
        };
        if samples != classes.len() {
            let expected = format!("{samples} labels, one for each sample of {}", features.path.display());
            return Err(labels.wrong(0, expected, classes.len().to_string()).into());
        }
        Self::new(shape, features.elements, classes)
    }

    /// The names of the classes, by label: the texts of a CSV file. Other sets have none.
    pub fn class_names(&self) -> &[String] {
        &self.class_names
    }
}

impl Dataset for ArrayDataset {
    fn len(&self) -> usize {
        self.labels.len()
    }

    fn sample_shape(&self) -> &[usize] {
        &self.shape
    }

    fn classes(&self) -> usize {
        self.classes
    }

    fn copy_sample<T: Real>(&self, index: usize, features: &mut [T]) {
        let from = &self.features[index * features.len()..(index + 1) * features.len()];
        for (to, &feature) in features.iter_mut().zip(from) {
            *to = T::from_f64(feature);
        }
    }

    fn label(&self, index: usize) -> u32 {
        self.labels[index]
    }
}
