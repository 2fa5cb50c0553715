//! The workspace and the stream of a user's own library call, and a call that panics.

use dahl_core::__private::Kernel;
use dahl_core::Codelet;

use super::product::{ARGUMENTS, Factors, by_cublas, is_absent, on_cpu, parameters, run, task};
use crate::runtime::bed::{Bed, builder, cuda, in_seeds};

/// A codelet with a library call of its own, which uses a workspace and the stream.
static LENT: Codelet = Codelet::new("lent", module_path!(), 22)
    .parameters(&parameters::<f32, f32>())
    .arguments(ARGUMENTS)
    .kernels(&[Some(Kernel::new("rust", on_cpu::<f32, f32>))])
    .cuda_calls(&[Kernel::call("of_its_own", None, |call| {
        let first = call.workspace(1000)?;
        let second = call.workspace(64)?;
        assert!(first != second && first % 256 == 0 && second % 256 == 0);
        assert_eq!(call.stream(), call.stream());
        by_cublas::<f32, f32>(call)
    })]);

#[test]
fn a_call_is_lent_memory_in_order_of_the_stream() {
    in_seeds(1, || {
        let rt = builder().build().expect("it can be had");
        if is_absent(&rt) {
            return;
        }
        let mut found = Factors::<f32, f32>::new(&rt, [2, 3, 2], [false; 2]).expect("it can be had");
        let mut expected = Factors::<f32, f32>::new(&rt, [2, 3, 2], [false; 2]).expect("it can be had");
        for _ in 0..3 {
            task(&LENT, &mut found, [false; 2], true).on(cuda(0)).submit().expect("it is right");
            task(&LENT, &mut expected, [false; 2], true).on(0).submit().expect("it is right");
        }
        assert_eq!(
            found.out.to_vec().expect("nothing failed"),
            expected.out.to_vec().expect("nothing failed")
        );
        drop((found, expected));
        let left: Vec<_> = rt.memory()[1].holders.iter().map(|holder| holder.what).collect();
        assert_eq!(left, ["workspace of cuBLAS"]);
    });
}

#[test]
fn a_call_that_panics_fails_its_task_alone() {
    static PANICS: Codelet = Codelet::new("panics", module_path!(), 23)
        .parameters(&parameters::<f32, f32>())
        .arguments(ARGUMENTS)
        .kernels(&[Some(Kernel::new("rust", on_cpu::<f32, f32>))])
        .cuda_calls(&[Kernel::call("panics", None, |_| panic!("not today"))]);
    let Some(bed) = Bed::new("") else { return };
    let rt = builder().build().expect("it can be had");
    let mut factors = Factors::<f32, f32>::new(&rt, [2, 2, 2], [false; 2]).expect("it can be had");
    task(&PANICS, &mut factors, [false; 2], true).on(cuda(0)).submit().expect("it is right");
    let error = factors.out.to_vec().expect_err("it failed").to_string();
    assert!(error.contains("not today"), "{error}");
    run(&rt, 1).expect("the worker goes on");
    drop((factors, rt));
    assert_eq!(bed.findings(), "");
}
