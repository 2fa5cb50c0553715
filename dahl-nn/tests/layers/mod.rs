//! Layers and their gradients compared with PyTorch's, in each element type. `tests/reference/make_layers.py` made the numbers.
//!
//! `UPDATE_EXPECT=1 cargo test -p dahl-nn --test dahl_nn pytorch` writes the table of `docs/networks-against-pytorch.md`.

mod features;
mod graph;
mod images;
mod recurrent;
mod transformer;

use std::sync::LazyLock;

use dahl::ops;
use dahl::prelude::*;
use dahl_nn::prelude::*;
use safetensors::SafeTensors;

use crate::closeness::{self, Table};

fn file() -> &'static SafeTensors<'static> {
    static FILE: LazyLock<SafeTensors<'static>> =
        LazyLock::new(|| closeness::reference("layers.safetensors"));
    &FILE
}

/// The seed of the random numbers that dropout takes, as in the script.
const SEED: u64 = 9;

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

/// Compares layers.
struct Check<'t>(&'t mut Table);

impl Check<'_> {
    /// Compares a layer in training with PyTorch's of the same name.
    fn check<'m, T: Real, M: Module<T>, const K: usize>(
        &mut self,
        rt: &Runtime,
        init: &mut Init<'m>,
        name: &'static str,
        module: M,
        forward: impl Forward<T, M, K>,
    ) {
        self.check_under(&Step::under(rt.tape()).seed(SEED), rt, init, name, module, forward);
    }

    /// Compares a layer under a step with PyTorch's of the same name.
    fn check_under<'m, T: Real, M: Module<T>, const K: usize>(
        &mut self,
        step: &Step<'_>,
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
        let output = forward(step, &model).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(output.shape().to_vec(), case.shape::<T>("output"), "{name}");
        let (worst, own) = (self.0.worst::<T>(name), case.own_difference::<T>());
        worst.see("output", &output.to_vec().unwrap(), &case.values("output"), own);
        let by_output = rt.from_vec(output.shape(), case.values("by_output")).unwrap();
        let products = ops::mul_init(step, &output, &by_output).unwrap();
        step.accumulate(&ops::sum_init(step, &products).unwrap(), &mut model).unwrap();
        for parameter in model.parameters() {
            let role = format!("by/{}", parameter.name());
            worst.see(&role, &parameter.gradient.to_vec().unwrap(), &case.values(&role), own);
        }
    }
}

/// Adds the layers of all groups.
fn all<T: Real>(rt: &Runtime, table: &mut Table) -> dahl::Result<()> {
    let table = &mut Check(table);
    features::all::<T>(rt, table)?;
    features::activations::<T>(rt, table)?;
    images::convolutions::<T>(rt, table)?;
    images::pools::<T>(rt, table)?;
    images::shapes::<T>(rt, table)?;
    graph::all::<T>(rt, table)?;
    recurrent::all::<T>(rt, table)?;
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
    table.assert("Layers", file());
    Ok(())
}
