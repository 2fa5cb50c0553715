//! Sums by a fixed tree, and calls whose tasks run on one rank.

use dahl::ops::{fill, tree_sum};
use dahl::prelude::*;
use dahl_core::{Result, Runtime};

use super::kernels::{V, scale, sum};
use crate::launch::on_ranks;

const RANKS: [usize; 5] = [1, 2, 3, 4, 7];

/// The sum by a tree, one addition after the other.
fn expected<T: Real>(values: &[Vec<T>]) -> Vec<T> {
    if values.len() == 1 {
        return values[0].clone();
    }
    let (first, second) = values.split_at(values.len().next_power_of_two() / 2);
    expected(first).into_iter().zip(expected(second)).map(|(x, y)| x + y).collect()
}

fn case<T: Real>(seed: u64) {
    let mut random = fastrand::Rng::with_seed(seed);
    let (count, len) = (random.usize(1..12), random.usize(1..40));
    let values: Vec<Vec<T>> =
        (0..count).map(|_| (0..len).map(|_| T::from_f64(random.f64() * 20.0 - 10.0)).collect()).collect();
    let sum: Vec<u64> = expected(&values).into_iter().map(|x| x.to_f64().to_bits()).collect();
    for ranks in RANKS {
        let owners: Vec<usize> = (0..count).map(|_| random.usize(..ranks)).collect();
        let program = |rt: &Runtime| -> Result<Vec<u64>> {
            let mut arrays = Vec::new();
            for (values, owner) in values.iter().zip(&owners) {
                let mut array = rt.zeros([len])?;
                rt.on_rank(*owner, || dahl::ops::copy(&rt.from_vec([len], values.clone())?, &mut array))?;
                rt.set_owner(&array, *owner)?;
                arrays.push(array);
            }
            tree_sum(&mut arrays)?;
            Ok(arrays[0].to_vec()?.into_iter().map(|x: T| x.to_f64().to_bits()).collect())
        };
        let builder = || Runtime::builder().cpu_workers(1).cuda_devices(0);
        let Some(results) = on_ranks(ranks, seed, builder, program) else { continue };
        let results = results.expect("no rank fails");
        assert!(
            results.iter().all(|result| *result == sum),
            "{} {seed}: {count} arrays, {ranks} ranks",
            T::NAME
        );
    }
}

pub(crate) fn sums_have_the_same_bits_for_any_number_of_ranks() {
    for seed in 0..8 {
        case::<f16>(seed);
        case::<bf16>(seed);
        case::<f32>(seed);
        case::<f64>(seed);
    }
}

/// Contributions on each rank in turn, after the sum before was discarded: a rank must not add to what another one had.
pub(crate) fn tasks_of_a_call_run_on_its_rank_and_discarded_values_are_not_sent() {
    let program = |rt: &Runtime| -> Result<Vec<Vec<u32>>> {
        let mut values = Vec::new();
        let (mut x, mut total): (V, V) = (rt.zeros([3])?, rt.zeros([3])?);
        for round in 0..9 {
            let rank = round * 5 % rt.ranks();
            rt.on_rank(rank, || {
                scale(&mut x, round as f32, None)?;
                total.invalidate()?;
                sum(&x, &mut total)?;
                sum(&x, &mut total)
            })?;
            let inner = rt.on_rank(rank, || {
                let last = rt.ranks() - 1;
                rt.on_rank(last, || fill(&mut x, -0.0))?;
                scale(&mut x, 1.5, None)
            });
            inner?;
            if round % 3 == 2 {
                values.push(total.to_vec()?.into_iter().map(f32::to_bits).collect());
                values.push(x.to_vec()?.into_iter().map(f32::to_bits).collect());
            }
        }
        let beyond = rt.on_rank(rt.ranks(), || fill(&mut x, 0.0)).expect_err("there is no such rank");
        assert!(beyond.to_string().contains("on_rank: there is no rank"), "{beyond}");
        Ok(values)
    };
    let builder = || Runtime::builder().cpu_workers(1).cuda_devices(0);
    let alone = program(&builder().build().expect("a runtime")).expect("every call is right");
    for ranks in RANKS {
        let Some(results) = on_ranks(ranks, ranks as u64, builder, program) else { continue };
        let results = results.expect("no rank fails");
        assert!(results.iter().all(|result| *result == alone), "{ranks} ranks: {results:?}, {alone:?}");
    }
}
