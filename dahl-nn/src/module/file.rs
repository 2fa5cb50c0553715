//! Parameters and buffers in files: safetensors, with PyTorch's names and layouts.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use dahl::prelude::*;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use super::duplicate::duplicate_name;
use super::{Member, MemberMut, Module, Visit, VisitMut};
use crate::error::{Error, Result};
use crate::setting;

/// The name of an element type in files, if it has one.
fn dtype<T: Real>() -> Option<Dtype> {
    match T::NAME {
        "f16" => Some(Dtype::F16),
        "bf16" => Some(Dtype::BF16),
        "f32" => Some(Dtype::F32),
        "f64" => Some(Dtype::F64),
        _ => None,
    }
}

/// How a file names and stores a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorName {
    name: String,
    is_transposed: bool,
}

impl TensorName {
    /// A tensor of this name, with the parameter's shape.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), is_transposed: false }
    }

    /// The file has the matrix transposed. A parameter that is no matrix is an error.
    pub fn transposed(mut self) -> Self {
        self.is_transposed = true;
        self
    }
}

/// A tensor as it is in a file.
#[derive(Debug)]
struct Stored {
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

/// What will be a file.
#[derive(Debug, Default)]
pub(crate) struct Tensors {
    tensors: BTreeMap<String, Stored>,
    metadata: HashMap<String, String>,
}

impl Tensors {
    /// Adds a tensor. Waits for it.
    #[track_caller]
    pub(crate) fn add<T: Real>(
        &mut self,
        name: String,
        shape: &[usize],
        value: &Vector<'_, T>,
    ) -> dahl::Result<()> {
        self.add_elements(name, shape, &value.to_vec()?)
    }

    /// Adds other elements for the parameters and buffers of a module, as `PREFIX.NAME`.
    #[track_caller]
    pub(crate) fn add_values<T: Real, M: Module<T> + ?Sized>(
        &mut self,
        prefix: &str,
        module: &M,
        values: &Values<T>,
    ) -> dahl::Result<()> {
        let mut result = Ok(());
        Visit::all(module, &mut |name, member| {
            let shape = match &member {
                Member::Parameter(parameter) => &parameter.shape[..],
                Member::Buffer(buffer) => buffer.shape(),
                Member::Module { .. } => return,
            };
            let name = name.to_string();
            if let (Some(elements), Ok(())) = (values.0.get(&name), &result) {
                result = self.add_elements(format!("{prefix}.{name}"), shape, elements);
            }
        });
        result
    }

    #[track_caller]
    fn add_elements<T: Real>(&mut self, name: String, shape: &[usize], value: &[T]) -> dahl::Result<()> {
        let known = "f16, bf16, f32 or f64, which safetensors knows";
        let Some(dtype) = dtype::<T>() else {
            return Err(setting::wrong("element type", T::NAME, known).into());
        };
        if shape.iter().product::<usize>() != value.len() {
            let fact = format!("`{name}` has the shape {shape:?}, but {} elements", value.len());
            return Err(dahl::Error::invalid_shape("save", fact));
        }
        let bytes = bytemuck::cast_slice(value).to_vec();
        let stored = Stored { dtype, shape: shape.to_vec(), bytes };
        match self.tensors.entry(name) {
            Entry::Vacant(entry) => drop(entry.insert(stored)),
            Entry::Occupied(entry) => {
                let fact = format!("two parameters or buffers have the name `{}`", entry.key());
                return Err(dahl::Error::invalid_shape("save", fact));
            }
        }
        Ok(())
    }

    /// Adds the parameters and buffers of a module.
    #[track_caller]
    pub(crate) fn add_module<T: Real, M: Module<T> + ?Sized>(&mut self, module: &M) -> dahl::Result<()> {
        let mut result = Ok(());
        Visit::all(module, &mut |name, member| {
            if result.is_ok() {
                result = match member {
                    Member::Parameter(parameter) => {
                        self.add(name.to_string(), &parameter.shape, &parameter.value)
                    }
                    Member::Buffer(buffer) => self.add(name.to_string(), buffer.shape(), &buffer.value()),
                    Member::Module { .. } => Ok(()),
                };
            }
        });
        result
    }

    /// Adds a text beside the tensors.
    pub(crate) fn note(&mut self, key: &str, value: String) {
        self.metadata.insert(key.to_owned(), value);
    }

    /// Writes the file. A reader finds the old or the new one, complete.
    pub(crate) fn save(self, path: &Path) -> Result<()> {
        let views = self.tensors.iter().map(|(name, stored)| {
            let view = TensorView::new(stored.dtype, stored.shape.clone(), &stored.bytes);
            (name, view.expect("a tensor has as many elements as its shape"))
        });
        let metadata = (!self.metadata.is_empty()).then(|| self.metadata.clone());
        let bytes = safetensors::serialize(views, metadata).map_err(|error| invalid(path, error))?;
        dahl_files::save(path, bytes).map_err(|error| Error::Io { path: path.to_owned(), error })
    }
}

/// The content of a file.
#[derive(Debug)]
pub(crate) struct TensorFile {
    path: PathBuf,
    bytes: Vec<u8>,
    /// The texts beside the tensors.
    metadata: HashMap<String, String>,
}

impl TensorFile {
    /// Reads a file, and checks that it is one of tensors with names that differ.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let bytes = fs::read(path).map_err(|error| Error::Io { path: path.to_owned(), error })?;
        let (_, header) = SafeTensors::read_metadata(&bytes).map_err(|error| invalid(path, error))?;
        let metadata = header.metadata().clone().unwrap_or_default();
        let file = Self { path: path.to_owned(), bytes, metadata };
        file.tensors()?;
        if let Some(name) = duplicate_name(&file.bytes) {
            return Err(file.mismatch(&name, "one".to_owned(), "two of this name".to_owned()));
        }
        Ok(file)
    }

    fn tensors(&self) -> Result<SafeTensors<'_>> {
        SafeTensors::deserialize(&self.bytes).map_err(|error| invalid(&self.path, error))
    }

    /// The file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether there are tensors with the names `PREFIX.NAME`.
    pub(crate) fn has_within(&self, prefix: &str) -> bool {
        let is_within = |name: &str| name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('.'));
        self.tensors().is_ok_and(|tensors| tensors.names().into_iter().any(is_within))
    }

    /// A text beside the tensors.
    pub(crate) fn noted(&self, key: &str) -> Option<&str> {
        self.metadata.get(key).map(String::as_str)
    }

    /// The error that a tensor is not what was expected.
    pub(crate) fn mismatch(&self, tensor: &str, expected: String, found: String) -> Error {
        Error::Tensor { path: self.path.clone(), tensor: tensor.to_owned(), expected, found }
    }

    /// The elements of a tensor.
    ///
    /// # Errors
    /// If there is none of this name, element type and shape.
    pub(crate) fn elements<T: Real>(&self, name: &str, shape: &[usize]) -> Result<Vec<T>> {
        let tensors = self.tensors()?;
        let expected = || format!("{} {shape:?}", T::NAME);
        let Ok(tensor) = tensors.tensor(name) else {
            return Err(self.mismatch(name, expected(), "no such tensor".to_owned()));
        };
        if Some(tensor.dtype()) != dtype::<T>() || tensor.shape() != shape {
            let found = format!("{:?} {:?}", tensor.dtype(), tensor.shape()).to_lowercase();
            return Err(self.mismatch(name, expected(), found));
        }
        let mut elements = vec![T::ZERO; tensor.data().len() / size_of::<T>()];
        bytemuck::cast_slice_mut(&mut elements).copy_from_slice(tensor.data());
        Ok(elements)
    }

    /// The elements of every parameter and buffer of a module.
    ///
    /// # Errors
    /// The first that is not in the file with the module's element type and shape.
    pub(crate) fn values_of<T: Real, M: Module<T> + ?Sized>(&self, module: &M) -> Result<Values<T>> {
        self.values_as(module, |name| TensorName::new(name))
    }

    /// As [`values_of`](Self::values_of), from the tensors that `name_of` gives for each name.
    pub(crate) fn values_as<T: Real, M: Module<T> + ?Sized>(
        &self,
        module: &M,
        mut name_of: impl FnMut(&str) -> TensorName,
    ) -> Result<Values<T>> {
        let mut values = Ok(BTreeMap::new());
        Visit::all(module, &mut |name, member| {
            let shape = match &member {
                Member::Parameter(parameter) => &parameter.shape[..],
                Member::Buffer(buffer) => buffer.shape(),
                Member::Module { .. } => return,
            };
            if let Ok(read) = &mut values {
                let name = name.to_string();
                match self.elements_as(&name_of(&name), shape) {
                    Ok(elements) => drop(read.insert(name, elements)),
                    Err(error) => values = Err(error),
                }
            }
        });
        Ok(Values(values?))
    }

    /// The elements of a tensor, in the order of a parameter of `shape`.
    fn elements_as<T: Real>(&self, stored: &TensorName, shape: &[usize]) -> Result<Vec<T>> {
        if !stored.is_transposed {
            return self.elements(&stored.name, shape);
        }
        let &[rows, cols] = shape else {
            let (expected, found) = ("a matrix".to_owned(), format!("a parameter of shape {shape:?}"));
            return Err(self.mismatch(&stored.name, expected, found));
        };
        let transposed = self.elements::<T>(&stored.name, &[cols, rows])?;
        Ok((0..rows * cols).map(|at| transposed[at % cols * rows + at / cols]).collect())
    }

    /// Requires that the file has no tensors but those that `is_known`, and the counts of batches that PyTorch's batch
    /// normalisation has, which nothing here needs.
    pub(crate) fn require_no_other(&self, is_known: impl Fn(&str) -> bool) -> Result<()> {
        let tensors = self.tensors()?;
        match tensors
            .names()
            .into_iter()
            .find(|&name| !is_known(name) && !name.ends_with("num_batches_tracked"))
        {
            Some(other) => Err(self.mismatch(other, "no such tensor".to_owned(), "one".to_owned())),
            None => Ok(()),
        }
    }
}

/// Elements for the parameters and buffers of a module, by their names.
#[derive(Clone, Debug)]
pub(crate) struct Values<T>(BTreeMap<String, Vec<T>>);

impl<T: Real> Values<T> {
    /// Those that the module has. Waits for them.
    pub(crate) fn of<M: Module<T> + ?Sized>(module: &M) -> dahl::Result<Self> {
        let (mut values, mut result) = (BTreeMap::new(), Ok(()));
        Visit::all(module, &mut |name, member| {
            let read = match &member {
                Member::Parameter(parameter) => parameter.value.to_vec(),
                Member::Buffer(buffer) => buffer.value().to_vec(),
                Member::Module { .. } => return,
            };
            match read {
                Ok(elements) => drop(values.insert(name.to_string(), elements)),
                Err(error) if result.is_ok() => result = Err(error),
                Err(_) => {}
            }
        });
        result.map(|()| Self(values))
    }

    /// Whether there are elements for this name.
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Writes them. Waits first, so that an array that cannot be written leaves all unchanged.
    pub(crate) fn write_to<M: Module<T> + ?Sized>(&self, module: &mut M) -> dahl::Result<()> {
        for is_written in [false, true] {
            let mut result = Ok(());
            VisitMut::all(module, &mut |name, member| {
                let values =
                    self.0.get(&name.to_string()).filter(|_| is_written).map_or(&[][..], Vec::as_slice);
                if result.is_ok() {
                    result = match member {
                        MemberMut::Parameter(parameter) => write(&mut parameter.value, values),
                        MemberMut::Buffer(buffer) => write(buffer.value_mut(), values),
                    };
                }
            });
            result?;
        }
        Ok(())
    }
}

/// Waits for the array, and writes its first elements.
pub(crate) fn write<T: Real>(array: &mut Vector<'_, T>, values: &[T]) -> dahl::Result<()> {
    array.write()?.iter_mut().zip(values).for_each(|(element, value)| *element = *value);
    Ok(())
}

fn invalid(path: &Path, error: safetensors::SafeTensorError) -> Error {
    Error::Format {
        path: path.to_owned(),
        offset: 0,
        expected: "a safetensors file".to_owned(),
        found: error.to_string(),
    }
}
