//! Reads the fixtures: inputs, arguments and PyTorch's results, case by case.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::{Mutex, PoisonError};

use dahl::ndarray::Axis;
use dahl::prelude::*;
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView};

/// One file of `fixtures`.
pub(crate) struct Stem {
    name: &'static str,
    file: SafeTensors<'static>,
}

/// One case of an op in one element type.
pub(crate) struct Case<'s> {
    file: &'s SafeTensors<'static>,
    /// `{op}/{element type}/{case}`
    pub(crate) name: String,
    /// The same of the op whose inputs it shares.
    shared: String,
}

/// The layout of an array: on its own, or as the middle part of one three times as wide, whose rows are not contiguous.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Layout {
    Whole,
    Part,
}

pub(crate) const LAYOUTS: [Layout; 2] = [Layout::Whole, Layout::Part];

/// An array in a [`Layout`].
pub(crate) struct Placed<T: Element, const N: usize> {
    whole: Array<'static, T, N>,
    extent: Option<usize>,
}

impl Stem {
    /// The file of this name, which is read and parsed once: there are thousands of tensors in one.
    pub(crate) fn open(name: &'static str) -> &'static Self {
        static STEMS: Mutex<BTreeMap<&str, &Stem>> = Mutex::new(BTreeMap::new());
        let mut stems = STEMS.lock().unwrap_or_else(PoisonError::into_inner);
        stems.entry(name).or_insert_with(|| {
            let path = format!("{}/tests/pytorch/fixtures/{name}.safetensors", env!("CARGO_MANIFEST_DIR"));
            let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
            let file = SafeTensors::deserialize(bytes.leak()).expect("a safetensors file");
            Box::leak(Box::new(Self { name, file }))
        })
    }

    /// The cases of `op` in the element type `type_name`; includes inputs that an op named `shared` has for several
    /// ops.
    pub(crate) fn cases(&self, op: &str, shared: &str, type_name: &str) -> Vec<Case<'_>> {
        let prefix = format!("{op}/{type_name}/");
        let names: BTreeSet<String> = self
            .file
            .names()
            .into_iter()
            .filter_map(|name| Some(name.strip_prefix(&prefix)?.split_once('/')?.0.to_owned()))
            .collect();
        assert!(!names.is_empty(), "{} has no cases of {op} in {type_name}", self.name);
        let case = |case| Case {
            file: &self.file,
            name: format!("{prefix}{case}"),
            shared: format!("{shared}/{type_name}/{case}"),
        };
        names.into_iter().map(case).collect()
    }
}

impl Case<'_> {
    fn tensor(&self, role: &str) -> TensorView<'_> {
        let names = [&self.name, &self.shared].map(|op| format!("{op}/{role}"));
        let tensor = names.iter().find_map(|name| self.file.tensor(name).ok());
        tensor.unwrap_or_else(|| panic!("{} has no {role}", self.name))
    }

    pub(crate) fn has(&self, role: &str) -> bool {
        self.file.tensor(&format!("{}/{role}", self.name)).is_ok()
    }

    /// The shape and the values of a tensor.
    pub(crate) fn values<T: Element>(&self, role: &str) -> (Vec<usize>, Vec<T>) {
        let tensor = self.tensor(role);
        assert_eq!(tensor.dtype(), dtype(T::NAME), "{}/{role}", self.name);
        let values = tensor.data().chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect();
        (tensor.shape().to_vec(), values)
    }

    /// A tensor as an array.
    pub(crate) fn array<T: Element, const N: usize>(&self, rt: &Runtime, role: &str) -> Array<'static, T, N> {
        let (shape, values) = self.values(role);
        rt.from_vec(shape.try_into().expect("a tensor of this rank"), values).unwrap()
    }

    /// A tensor as an array in `layout`; within another array, it is surrounded by NaN.
    pub(crate) fn placed<T: Element, const N: usize>(
        &self,
        rt: &Runtime,
        role: &str,
        layout: Layout,
    ) -> Placed<T, N> {
        let (shape, values) = self.values(role);
        Placed::new(rt, shape.try_into().expect("a tensor of this rank"), &values, layout)
    }

    /// An array of the shape of a tensor, with meaningless elements.
    pub(crate) fn unwritten<T: Element, const N: usize>(
        &self,
        rt: &Runtime,
        role: &str,
        layout: Layout,
    ) -> Placed<T, N> {
        let shape = self.shape(role);
        Placed::new(rt, shape, &vec![surroundings(); shape.iter().product()], layout)
    }

    /// An array of zeros of the shape of a tensor, for an op that adds to it.
    pub(crate) fn zeros<T: Element, const N: usize>(&self, rt: &Runtime, role: &str) -> Array<'static, T, N> {
        rt.zeros(self.shape(role)).unwrap()
    }

    pub(crate) fn shape<const N: usize>(&self, role: &str) -> [usize; N] {
        self.tensor(role).shape().try_into().expect("a tensor of this rank")
    }

    /// Integers of any type, as arguments and indices are.
    pub(crate) fn integers(&self, role: &str) -> Vec<i64> {
        match self.tensor(role).dtype() {
            Dtype::U8 => self.values::<u8>(role).1.into_iter().map(i64::from).collect(),
            Dtype::I32 => self.values::<i32>(role).1.into_iter().map(i64::from).collect(),
            _ => self.values(role).1,
        }
    }

    /// The argument `role`, two numbers.
    pub(crate) fn pair(&self, role: &str) -> [usize; 2] {
        [0, 1].map(|at| self.integers(role)[at] as usize)
    }

    /// The argument `role`, one number.
    pub(crate) fn count(&self, role: &str) -> usize {
        self.integers(role)[0] as usize
    }

    /// The argument `role`, one real number.
    pub(crate) fn real(&self, role: &str) -> f64 {
        self.values(role).1[0]
    }

    /// Indices in the type that dahl uses.
    pub(crate) fn indices<const N: usize>(&self, rt: &Runtime, role: &str) -> Array<'static, u32, N> {
        let indices = self.integers(role).into_iter().map(|index| index as u32).collect();
        rt.from_vec(self.shape(role), indices).unwrap()
    }
}

impl<T: Element, const N: usize> Placed<T, N> {
    fn new(rt: &Runtime, shape: [usize; N], values: &[T], layout: Layout) -> Self {
        let extent = shape.last().copied().filter(|&extent| extent > 0 && layout == Layout::Part);
        let Some(extent) = extent else {
            return Self { whole: rt.from_vec(shape, values.to_vec()).unwrap(), extent };
        };
        let mut wide = shape;
        wide[N - 1] = 3 * extent;
        let around = vec![surroundings(); extent];
        let rows = values.chunks_exact(extent).flat_map(|row| [&around, row, &around].concat()).collect();
        Self { whole: rt.from_vec(wide, rows).unwrap(), extent: Some(extent) }
    }

    /// Calls `f` with the array, to be read.
    pub(crate) fn read<R>(&self, f: impl FnOnce(&Array<'_, T, N>) -> R) -> R {
        match self.extent {
            Some(extent) => f(&self.whole.partition(Axis(N - 1), extent).unwrap()[1]),
            None => f(&self.whole),
        }
    }

    /// Calls `f` with the array, to be changed.
    pub(crate) fn write<R>(&mut self, f: impl FnOnce(&mut Array<'_, T, N>) -> R) -> R {
        match self.extent {
            Some(extent) => f(&mut self.whole.partition_mut(Axis(N - 1), extent).unwrap()[1]),
            None => f(&mut self.whole),
        }
    }
}

/// The value around a part, and of an output before it is written: all bits set, a NaN.
fn surroundings<T: Element>() -> T {
    bytemuck::pod_read_unaligned(&vec![0xFF; size_of::<T>()])
}

fn dtype(type_name: &str) -> Dtype {
    match type_name {
        "f16" => Dtype::F16,
        "bf16" => Dtype::BF16,
        "f32" => Dtype::F32,
        "f64" => Dtype::F64,
        "u8" => Dtype::U8,
        "i32" => Dtype::I32,
        "i64" => Dtype::I64,
        other => panic!("no fixtures are in {other}"),
    }
}
