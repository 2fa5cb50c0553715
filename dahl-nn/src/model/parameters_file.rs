//! Parameters in files: safetensors, with PyTorch's names and layouts.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use dahl::prelude::*;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use super::Sequential;
use super::duplicate::duplicate_name;
use crate::error::{Error, Result};
use crate::setting;

fn dtype<T: Real>() -> Option<Dtype> {
    match T::NAME {
        "f16" => Some(Dtype::F16),
        "bf16" => Some(Dtype::BF16),
        "f32" => Some(Dtype::F32),
        "f64" => Some(Dtype::F64),
        _ => None,
    }
}

impl<T: Real> Sequential<'_, T> {
    /// Writes the parameters to a safetensors file, with PyTorch's names and layouts: `torch.nn.Sequential` of the same
    /// layers loads it with `load_state_dict(safetensors.torch.load_file(path))`.
    ///
    /// A reader finds either the old or the new file, complete, even if several threads or processes save. Links are
    /// followed, owner and mode are kept, and a file that is not regular is written to directly. A FIFO that no process
    /// reads is an error.
    ///
    /// # Errors
    /// If a task that a parameter depends on failed, or the file cannot be written.
    #[track_caller]
    pub fn save(&self, path: impl AsRef<Path>) -> dahl::Result<()> {
        let path = path.as_ref();
        Ok(self.write_file(path)?)
    }

    #[track_caller]
    fn write_file(&self, path: &Path) -> Result<()> {
        let known = "f16, bf16, f32 or f64, which safetensors knows";
        let Some(dtype) = dtype::<T>() else { return Err(setting::wrong("element type", T::NAME, known)) };
        let mut tensors = BTreeMap::new();
        for (name, parameter) in self.parameters() {
            tensors.insert(name, (parameter.shape.clone(), parameter.value.to_vec()?));
        }
        let views = tensors.iter().map(|(name, (shape, values))| {
            let view = TensorView::new(dtype, shape.clone(), bytemuck::cast_slice(values));
            (name, view.expect("a parameter has as many elements as its shape"))
        });
        let bytes = safetensors::serialize(views, None).map_err(|error| invalid(path, error))?;
        dahl_files::save(path, bytes).map_err(|error| Error::Io { path: path.to_owned(), error })
    }

    /// Reads the parameters from a safetensors file. The file must have exactly the tensors of the model, with the
    /// model's element type and shapes; otherwise nothing is loaded. Opening a FIFO waits until a process writes to it.
    ///
    /// # Errors
    /// If the file cannot be read, or does not match the model: the error names the tensor and what was expected.
    pub fn load(&mut self, path: impl AsRef<Path>) -> dahl::Result<()> {
        Ok(self.read_file(path.as_ref())?)
    }

    fn read_file(&mut self, path: &Path) -> Result<()> {
        let bytes = fs::read(path).map_err(|error| Error::Io { path: path.to_owned(), error })?;
        let file = SafeTensors::deserialize(&bytes).map_err(|error| invalid(path, error))?;
        let mismatch = |tensor: &str, expected: String, found: String| Error::Tensor {
            path: path.to_owned(),
            tensor: tensor.to_owned(),
            expected,
            found,
        };
        if let Some(name) = duplicate_name(&bytes) {
            return Err(mismatch(&name, "one".to_owned(), "two of this name".to_owned()));
        }
        let mut values = Vec::new();
        let mut names = Vec::new();
        for (name, parameter) in self.parameters() {
            let expected = || format!("{} {:?}", T::NAME, parameter.shape);
            let tensor =
                file.tensor(&name).map_err(|_| mismatch(&name, expected(), "no such tensor".to_owned()))?;
            if Some(tensor.dtype()) != dtype::<T>() || tensor.shape() != parameter.shape {
                let found = format!("{:?} {:?}", tensor.dtype(), tensor.shape()).to_lowercase();
                return Err(mismatch(&name, expected(), found));
            }
            let mut elements = vec![T::ZERO; parameter.len()];
            bytemuck::cast_slice_mut(&mut elements).copy_from_slice(tensor.data());
            values.push(elements);
            names.push(name);
        }
        if let Some(other) = file.names().into_iter().find(|&name| !names.iter().any(|own| own == name)) {
            return Err(mismatch(other, "no such tensor".to_owned(), "one".to_owned()));
        }
        // From here on the file is valid. Waits first, so that a parameter that cannot be written leaves all unchanged.
        for parameter in self.parameters_mut() {
            parameter.value.write()?;
        }
        for (parameter, values) in self.parameters_mut().zip(values) {
            let mut guard = parameter.value.write()?;
            guard.iter_mut().zip(values).for_each(|(element, value)| *element = value);
        }
        Ok(())
    }
}

fn invalid(path: &Path, error: safetensors::SafeTensorError) -> Error {
    Error::Format {
        path: path.to_owned(),
        offset: 0,
        expected: "a safetensors file".to_owned(),
        found: error.to_string(),
    }
}
