//! Layers and their gradients compared with PyTorch's, in each element type. `tests/reference/make_layers.py` made the numbers.
//!
//! Results meet the tolerances of `torch.testing.assert_close`. Half-precision layers of several operations round between these:
//! where PyTorch's own results in the type do not meet the tolerances either, elements may also differ by the largest difference
//! of PyTorch's, as a share of the result's largest element.
//!
//! `cargo test -p dahl-nn layers -- --nocapture` prints the largest difference of each layer in each type.

mod features;
mod graph;
mod images;
mod transformer;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::LazyLock;

use dahl::ops;
use dahl::prelude::*;
use dahl_nn::prelude::*;
use safetensors::SafeTensors;

fn file() -> &'static SafeTensors<'static> {
    static FILE: LazyLock<SafeTensors<'static>> = LazyLock::new(|| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference/layers.safetensors");
        let bytes = std::fs::read(path).expect("the reference is part of the repository");
        SafeTensors::deserialize(bytes.leak()).expect("a safetensors file")
    });
    &FILE
}

/// PyTorch's values and results of one layer, in one element type.
#[derive(Clone, Copy)]
struct Case(&'static str);

impl Case {
    fn shape<T: Real>(self, role: &str) -> Vec<usize> {
        self.tensor::<T>(role).1
    }

    fn values<T: Real>(self, role: &str) -> Vec<T> {
        let (bytes, _) = self.tensor::<T>(role);
        let mut values = vec![T::ZERO; bytes.len() / size_of::<T>()];
        bytemuck::cast_slice_mut(&mut values).copy_from_slice(bytes);
        values
    }

    fn tensor<T: Real>(self, role: &str) -> (&'static [u8], Vec<usize>) {
        let name = format!("{}/{}/{role}", self.0, T::NAME);
        let tensor = file().tensor(&name).unwrap_or_else(|error| panic!("{name}: {error}"));
        (tensor.data(), tensor.shape().to_vec())
    }

    /// The largest difference of PyTorch's own results in this type, as a share of the largest element, if it is more than the
    /// tolerances allow; else 0.
    fn own_difference<T: Real>(self) -> f64 {
        let tensor = file().tensor(&format!("{}/{}/own", self.0, T::NAME));
        tensor.map_or(0.0, |tensor| f64::from_le_bytes(tensor.data().try_into().expect("a number in f64")))
    }

    /// The number of values and parameters.
    fn count<T: Real>(self) -> usize {
        let start = format!("{}/{}/value/", self.0, T::NAME);
        file().names().iter().filter(|name| name.starts_with(&start)).count()
    }
}

/// A module with its inputs, whose gradients are computed too.
#[derive(Module)]
struct With<'m, T: Real, M: Module<T>> {
    x: Parameter<'m, T>,
    /// What a decoder sees besides.
    memory: Option<Parameter<'m, T>>,
    #[module(flatten)]
    module: M,
}

/// An input as an array of rank `N`.
fn input<'a, T: Real, const N: usize>(
    parameter: &'a Parameter<'_, T>,
) -> dahl::Result<dahl::Reshaped<'a, T, N>> {
    parameter.value.reshaped(parameter.shape.as_slice().try_into().expect("the rank of the input"))
}

/// What maps the input of a module, under a step.
trait Forward<T: Real, M: Module<T>, const K: usize>:
    for<'s> Fn(&'s Step<'_>, &With<'_, T, M>) -> dahl::Result<Array<'s, T, K>>
{
}

impl<F, T: Real, M: Module<T>, const K: usize> Forward<T, M, K> for F where
    F: for<'s> Fn(&'s Step<'_>, &With<'_, T, M>) -> dahl::Result<Array<'s, T, K>>
{
}

/// The largest differences from PyTorch, by layer and element type.
#[derive(Default)]
struct Table {
    rows: BTreeMap<&'static str, BTreeMap<&'static str, Worst>>,
}

/// The largest difference of a layer.
#[derive(Clone, Default)]
struct Worst {
    /// As a share of what is allowed.
    share: f64,
    difference: f64,
    place: String,
}

impl Table {
    /// Compares a layer with PyTorch's of the same name.
    fn check<'m, T: Real, M: Module<T>, const K: usize>(
        &mut self,
        rt: &Runtime,
        init: &mut Init<'m>,
        name: &'static str,
        module: M,
        forward: impl Forward<T, M, K>,
    ) {
        let case = Case(name);
        let made = |role: &str, init: &mut Init<'m>| {
            init.values(&case.shape::<T>(role), &case.values::<T>(role)).expect("it has as many values")
        };
        let has_memory = file().names().contains(&format!("{name}/{}/value/memory", T::NAME).as_str());
        let memory = has_memory.then(|| made("value/memory", init));
        let mut model = With { x: made("value/x", init), memory, module };
        model
            .for_each_parameter(|name, parameter| {
                let role = format!("value/{name}");
                assert_eq!(case.shape::<T>(&role), parameter.shape, "{}: {name}", case.0);
                let values = case.values::<T>(&role);
                parameter.value.write()?.iter_mut().zip(values).for_each(|(to, from)| *to = from);
                Ok(())
            })
            .unwrap();
        assert_eq!(model.parameters().count(), case.count::<T>(), "{name}");
        model.zero_gradients().unwrap();
        let step = Step::learning(rt);
        let output = forward(&step, &model).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(output.shape().to_vec(), case.shape::<T>("output"), "{name}");
        let mut worst = Worst::default();
        worst.see(case, "output", &output.to_vec().unwrap());
        let by_output = rt.from_vec(output.shape(), case.values("by_output")).unwrap();
        let products = ops::mul_init(&step, &output, &by_output).unwrap();
        step.accumulate(&ops::sum_init(&step, &products).unwrap(), &mut model).unwrap();
        for parameter in model.parameters() {
            let role = format!("by/{}", parameter.name());
            worst.see(case, &role, &parameter.gradient.to_vec().unwrap());
        }
        self.rows.entry(name).or_default().insert(T::NAME, worst);
    }

    /// Prints the table.
    ///
    /// # Panics
    /// If a difference is larger than what is allowed.
    fn assert(&self) {
        println!("the largest difference from PyTorch, and its share of what is allowed:");
        for (name, worst) in &self.rows {
            let cells = ["f16", "bf16", "f32", "f64"].map(|element| {
                let Worst { share, difference, .. } = &worst[element];
                format!("{element} {difference:.1e} ({share:.2})")
            });
            println!("{name:<40} {}", cells.join("  "));
        }
        let wrong: Vec<_> = (self.rows.iter())
            .flat_map(|(name, worst)| worst.iter().map(move |(element, worst)| (name, element, worst)))
            .filter(|(.., worst)| worst.share.is_nan() || worst.share > 1.0)
            .map(|(name, element, worst)| format!("{name}/{element}/{}: {:.2}", worst.place, worst.share))
            .collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

impl Worst {
    /// Compares results with PyTorch's.
    fn see<T: Real>(&mut self, case: Case, role: &str, results: &[T]) {
        let (expected, own) = (case.values::<T>(role), case.own_difference::<T>());
        let (relative, absolute) = match T::NAME {
            "f16" => (1e-3, 1e-5),
            "bf16" => (1.6e-2, 1e-5),
            "f32" => (1.3e-6, 1e-5),
            _ => (1e-7, 1e-7),
        };
        assert_eq!(results.len(), expected.len(), "{}: {role}", case.0);
        let largest = expected.iter().fold(0.0, |largest: f64, value| largest.max(value.to_f64().abs()));
        for (index, (result, expected)) in results.iter().zip(expected).enumerate() {
            let (result, expected) = (result.to_f64(), expected.to_f64());
            let difference = (result - expected).abs();
            let share = difference / (absolute + relative * expected.abs() + own * largest);
            if share.is_nan() || share > self.share {
                let place = format!("{role}, element {index}: {result}, not {expected}");
                *self = Self { share, difference, place };
            }
        }
    }
}

/// Adds the layers of all groups.
fn all<T: Real>(rt: &Runtime, table: &mut Table) -> dahl::Result<()> {
    features::all::<T>(rt, table)?;
    features::activations::<T>(rt, table);
    images::convolutions::<T>(rt, table)?;
    images::pools::<T>(rt, table)?;
    images::shapes::<T>(rt, table)?;
    graph::all::<T>(rt, table)?;
    transformer::all::<T>(rt, table);
    Ok(())
}

#[test]
fn layers_give_the_results_of_pytorch() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let mut table = Table::default();
    all::<f16>(&rt, &mut table)?;
    all::<bf16>(&rt, &mut table)?;
    all::<f32>(&rt, &mut table)?;
    all::<f64>(&rt, &mut table)?;
    let cases: BTreeSet<_> =
        file().names().iter().filter_map(|name| Some(name.split_once('/')?.0.to_owned())).collect();
    let rows: BTreeSet<_> = table.rows.keys().map(|name| (*name).to_owned()).collect();
    assert_eq!(rows, cases);
    table.assert();
    Ok(())
}
