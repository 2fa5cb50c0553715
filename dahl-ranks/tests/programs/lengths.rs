//! Arrays of half precision, of no element up to many, whose writers are on one rank after the other.

use dahl_core::__private::{Kernel, Parameter, Views};
use dahl_core::{AccessMode, Codelet, ElementType, Result, Runtime, Task, Vector, f16};

use crate::launch::on_ranks;

/// The next value of an element.
fn next(x: f16) -> f16 {
    f16::from_f32(x.to_f32() * 0.75 + 0.3)
}

/// `x = 0.75 x + 0.3`
static NEXT: Codelet = Codelet::new("next", module_path!(), 1)
    .parameters(&[Parameter::new("x", AccessMode::RW, ElementType::of::<f16>())])
    .kernels(&[Some(Kernel::new("rust", |views: &mut Views<'_>| {
        views.slice_mut::<f16>().iter_mut().for_each(|x| *x = next(*x));
    }))]);

/// Arrays of these lengths, some of more bytes than a message that is sent at once.
const LENGTHS: [usize; 6] = [0, 1, 3, 1000, 4072, 70_001];
const STEPS: usize = 9;

fn start(len: usize) -> Vec<f16> {
    (0..len).map(|i| f16::from_f32((i % 1000) as f32 * 0.01)).collect()
}

fn go_round(rt: &Runtime) -> Result<Vec<Vec<f16>>> {
    let new = |len: &usize| rt.from_vec([*len], start(*len));
    let mut arrays: Vec<Vector<'static, f16>> = LENGTHS.iter().map(new).collect::<Result<_>>()?;
    for step in 0..STEPS {
        for (array, x) in arrays.iter_mut().enumerate() {
            let mut task = Task::new(&NEXT);
            task.write(x);
            task.on_rank((step + array) % rt.ranks()).submit()?;
        }
    }
    arrays.iter().map(|array| array.to_vec()).collect()
}

pub(crate) fn arrays_of_any_length_go_round_the_ranks() {
    let mut expected: Vec<Vec<f16>> = LENGTHS.iter().map(|len| start(*len)).collect();
    for _ in 0..STEPS {
        expected.iter_mut().flatten().for_each(|x| *x = next(*x));
    }
    for ranks in [1, 2, 3, 4] {
        let builder = || Runtime::builder().cpu_workers(1).cuda_devices(0);
        let Some(results) = on_ranks(ranks, 3, builder, go_round) else { continue };
        for result in results.expect("no rank fails") {
            assert!(result == expected, "{ranks} ranks");
        }
    }
}
