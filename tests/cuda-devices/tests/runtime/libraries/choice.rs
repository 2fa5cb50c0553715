//! The choice between the kernels of a codelet on a device: one that calls a library, or its own.

use dahl_core::Ruling;

use super::product::{Factors, PRODUCT, measured, run, task, with};
use crate::runtime::bed::{Bed, builder};

#[test]
fn the_library_comes_first_where_bits_are_not_to_depend_on_measurements() {
    for policy in ["equal", "first"] {
        let Some(bed) = Bed::new("") else { return };
        let rt = with(policy).build().expect("it can be had");
        run(&rt, 20).expect("nothing failed");
        assert_eq!(bed.products().lines().count(), 20);
        assert_eq!(measured(&rt), ["by_cublas"]);
    }
}

#[test]
fn measurements_decide_between_the_library_and_the_kernel() {
    let Some(bed) = Bed::new("") else { return };
    let rt = with("measured").build().expect("it can be had");
    run(&rt, 30).expect("nothing failed");
    let choices = rt.kernel_choices();
    let row =
        choices.rows.iter().find(|row| row.worker_kind != "cpu").expect("there was something to choose");
    assert_eq!(row.ruling, Ruling::Measured);
    let tried: Vec<_> = row.trials.iter().map(|trial| (trial.kernel, trial.team)).collect();
    assert_eq!(tried, [("by_cublas", false), ("cuda", false)]);
    assert!(row.trials.iter().all(|trial| trial.first_us.is_some()), "{choices}");
    let kernel = row.kernel.expect("it is decided after thirty tasks");
    let best = row.trials.iter().min_by(|a, b| a.median_us.partial_cmp(&b.median_us).expect("numbers"));
    assert_eq!(kernel, best.expect("there are two").kernel, "{choices}");
    // Two to six calls to try each kernel, and the rest by the one that was chosen.
    let called = bed.products().lines().count();
    let expected = if kernel == "by_cublas" { 24..=28 } else { 2..=6 };
    assert!(expected.contains(&called), "{called} of 30: {choices}");
    assert_eq!(measured(&rt), ["by_cublas", "cuda"], "performance models see both");
}

#[test]
fn a_table_pins_the_kernel_of_a_device_and_that_of_the_cpu() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("kernels.toml");
    let rows = "version = 1\n[[kernel]]\ncodelet = \"product_with_kernel\"\nkernel = \"rust\"\n\
                [[kernel]]\ncodelet = \"product_with_kernel\"\nkernel = \"cuda\"\n";
    std::fs::write(&file, rows).expect("it can be written");
    let Some(bed) = Bed::new("") else { return };
    let rt = with(file.to_str().expect("a name")).build().expect("it can be had");
    run(&rt, 3).expect("nothing failed");
    assert_eq!(bed.products(), "");
    assert_eq!(rt.kernel_choices().warnings, Vec::<String>::new());
    assert_eq!(measured(&rt), ["cuda"]);
}

#[test]
fn a_submitter_names_a_kernel() {
    let Some(bed) = Bed::new("") else { return };
    let rt = with("measured").build().expect("it can be had");
    let mut factors = Factors::<f32, f32>::new(&rt, [2, 2, 2], [false; 2]).expect("it can be had");
    for (name, calls) in [("by_cublas", 1), ("cuda", 0), ("rust", 0)] {
        task(&PRODUCT, &mut factors, [false; 2], false).kernel(name).submit().expect("it is right");
        rt.wait().expect("nothing failed");
        assert_eq!(bed.products().lines().count(), calls, "{name}");
    }
    let unknown = task(&PRODUCT, &mut factors, [false; 2], false).kernel("other").submit();
    let unknown = unknown.expect_err("there is none").to_string();
    assert!(unknown.contains("rust, by_cublas, cuda"), "{unknown}");
}

#[test]
fn without_a_device_its_kernels_are_refused() {
    let Some(_bed) = Bed::new("devices=0") else { return };
    let rt = builder().build().expect("it can be had");
    let mut factors = Factors::<f32, f32>::new(&rt, [2, 2, 2], [false; 2]).expect("it can be had");
    let refused = task(&PRODUCT, &mut factors, [false; 2], false).kernel("by_cublas").submit();
    let refused = refused.expect_err("no worker has it").to_string();
    assert!(refused.contains("worker with the kernel `by_cublas`"), "{refused}");
    task(&PRODUCT, &mut factors, [false; 2], false).submit().expect("a CPU runs it");
    rt.wait().expect("nothing failed");
}
