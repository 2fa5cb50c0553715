//! Libraries that are missing, do not support the device, do not support an operation, or fail.

use std::process::Command;

use super::convolution::{Arrays, FORWARD, SMALL};
use super::product::{Factors, PRODUCT, measured, product, run, task, with};
use crate::runtime::bed::{Bed, builder, cuda};

/// Set for the process in which there is no library.
const WITHOUT: &str = "TEST_WITHOUT_CUBLAS";

#[test]
fn without_the_library_the_kernel_runs() {
    if std::env::var_os(WITHOUT).is_none() {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.args(["--exact", "runtime::libraries::loading::without_the_library_the_kernel_runs"]);
        let output = command.env(WITHOUT, "1").env("DAHL_CUBLAS", "0").output().expect("it can be started");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
        return;
    }
    let Some(bed) = Bed::new("") else { return };
    let rt = with("measured").build().expect("it can be had");
    run(&rt, 20).expect("nothing failed");
    assert_eq!(bed.products(), "");
    assert_eq!(measured(&rt), ["cuda"]);
    let mut factors = Factors::<f32, f32>::new(&rt, [2, 2, 2], [false; 2]).expect("it can be had");
    let refused = task(&PRODUCT, &mut factors, [false; 2], false).kernel("by_cublas").submit();
    assert!(refused.is_err(), "the library is not there");
    // Tasks that only the library can run on a device are run by the CPU.
    let codelet = product::<f32, f32>();
    assert!(task(codelet, &mut factors, [false; 2], false).on(cuda(0)).submit().is_err());
    task(codelet, &mut factors, [false; 2], false).submit().expect("a CPU runs it");
    rt.wait().expect("nothing failed");
}

/// Set for the processes that are told whether there is a cuDNN.
const THERE: &str = "TEST_CUDNN_IS_THERE";

#[test]
fn a_folder_or_a_file_is_named_or_none() {
    if let Ok(there) = std::env::var(THERE) {
        let Some(bed) = Bed::new("") else { return };
        let rt = builder().build().expect("it can be had");
        let mut arrays = Arrays::<f32, f32>::new::<FORWARD>(&rt, SMALL).expect("it can be had");
        let submitted = arrays.task::<FORWARD>(false).on(cuda(0)).submit();
        assert_eq!(submitted.is_ok(), there == "1", "{submitted:?}");
        // Tasks that no device can run are run by the CPU.
        arrays.task::<FORWARD>(false).submit().expect("a CPU runs it");
        rt.wait().expect("nothing failed");
        assert!(there == "1" || bed.convolutions().is_empty());
        return;
    }
    let folder = fake_cuda::FOLDER;
    let file = format!("{folder}/libcudnn.so.9");
    let elsewhere = tempfile::tempdir().expect("a folder");
    let elsewhere = elsewhere.path().to_str().expect("a name");
    for (named, there) in [("0", "0"), (elsewhere, "0"), (folder, "1"), (&file, "1"), ("", "1")] {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.args(["--exact", "runtime::libraries::loading::a_folder_or_a_file_is_named_or_none"]);
        let output = command.env(THERE, there).env("DAHL_CUDNN", named).output().expect("it can be started");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{named}: {said}");
    }
}

#[test]
fn a_library_that_does_not_want_the_device_is_left_out() {
    // Status 1: not initialised. The first call makes the handle.
    let Some(bed) = Bed::new("fail=library:1=1") else { return };
    let rt = with("measured").build().expect("it can be had");
    run(&rt, 5).expect("nothing failed");
    assert_eq!(bed.products(), "");
    // It is not asked again.
    let mut factors = Factors::<f32, f32>::new(&rt, [2, 2, 2], [false; 2]).expect("it can be had");
    assert!(task(&PRODUCT, &mut factors, [false; 2], false).kernel("by_cublas").submit().is_err());
}

#[test]
fn what_was_to_be_the_librarys_alone_goes_to_the_cpu() {
    let Some(_bed) = Bed::new("fail=library:1=1") else { return };
    let rt = builder().build().expect("it can be had");
    let mut found = Factors::<f64, f64>::new(&rt, [2, 3, 2], [false; 2]).expect("it can be had");
    let mut expected = Factors::<f64, f64>::new(&rt, [2, 3, 2], [false; 2]).expect("it can be had");
    let kind = rt.worker_infos()[cuda(0)].kind.clone();
    for _ in 0..8 {
        task(product::<f64, f64>(), &mut found, [false; 2], true).submit().expect("it is right");
        task(product::<f64, f64>(), &mut expected, [false; 2], true)
            .on_kind("cpu")
            .submit()
            .expect("it is right");
    }
    assert_eq!(found.out.to_vec().expect("nothing failed"), expected.out.to_vec().expect("nothing failed"));
    assert_ne!(&*kind, "cpu");
}

#[test]
fn what_the_library_does_not_support_the_kernel_does() {
    // Status 15: not supported.
    let Some(bed) = Bed::new("fail=library:2-3=15") else { return };
    let rt = builder().build().expect("it can be had");
    run(&rt, 4).expect("nothing failed");
    assert_eq!(bed.products().lines().count(), 2);
    assert_eq!(measured(&rt), ["by_cublas", "cuda"]);
}

#[test]
fn a_call_that_fails_fails_its_task_alone() {
    let Some(bed) = Bed::new("fail=library:3=13") else { return };
    let rt = builder().build().expect("it can be had");
    let [mut first, mut second, mut third] =
        [(); 3].map(|()| Factors::<f32, f32>::new(&rt, [2, 2, 2], [false; 2]).expect("it can be had"));
    for of in [&mut first, &mut second, &mut third] {
        task(&PRODUCT, of, [false; 2], false).on(cuda(0)).submit().expect("it is right");
    }
    let error = second.out.to_vec().expect_err("it failed").to_string();
    assert!(error.contains("cublasGemmEx: the function failed to launch on the GPU (13)"), "{error}");
    assert!(error.contains("by_cublas") && error.contains("product_with_kernel"), "{error}");
    assert_eq!(first.out.to_vec().expect("nothing failed"), third.out.to_vec().expect("nothing failed"));
    drop((first, second, third, rt));
    assert_eq!(bed.findings(), "");
}

#[test]
fn a_device_without_room_for_the_workspace_does_without_the_library() {
    let Some(bed) = Bed::new("") else { return };
    // Memory for the arrays, and not for the smallest workspace.
    let rt = builder().cuda_limit_mb(0.03).build().expect("it can be had");
    run(&rt, 3).expect("nothing failed");
    assert_eq!(bed.products(), "");
}
