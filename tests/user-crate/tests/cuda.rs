//! The CUDA kernels of a user's crate: one from `kernels/weighted_add.cu`, one generated from the body of a map. The
//! crate builds with nvcc and without; `DAHL_TEST_IMAGES=fatbin`, which CI sets, tells that it was built with nvcc.

use dahl::argument::Argument;
use dahl::cuda::{CudaImage, CudaInstance, CudaLaunch};
use dahl::prelude::*;
use user_crate::{WeightedAdd, Witch};

/// Whether this was built with nvcc, if the environment of the test tells.
fn is_built_with_nvcc() -> Option<bool> {
    std::env::var("DAHL_TEST_IMAGES").ok().map(|images| images == "fatbin")
}

fn check_image(instance: &CudaInstance, without: fn(&CudaImage) -> bool) {
    let image = instance.kernel.image;
    let is_fatbin = matches!(image, CudaImage::Fatbin(bytes) if !bytes.is_empty());
    match is_built_with_nvcc() {
        Some(true) => assert!(is_fatbin, "{image:?}"),
        Some(false) => assert!(without(image), "{image:?}"),
        None => assert!(is_fatbin || without(image), "{image:?}"),
    }
}

#[test]
fn a_kernel_of_its_own() {
    let instance = WeightedAdd::codelet::<bf16>().cuda.expect("it is instantiated for bf16");
    let place = instance.kernel.place;
    assert!(place.starts_with("kernels/weighted_add.cu:"), "{place}");
    // Without nvcc it is the source text, which NVRTC compiles at first use.
    check_image(&instance, |image| match image {
        CudaImage::Program(program) => program.files() == ["weighted_add_entries.cu", "weighted_add.cu"],
        _ => false,
    });
}

#[test]
fn what_it_launches() {
    let instance = WeightedAdd::codelet::<f32>().cuda.unwrap();
    let mut arguments = [0; 8];
    0.25_f32.encode(&mut arguments[..4]);
    7_u32.encode(&mut arguments[4..]);
    let launches = |rows: usize| {
        let shape: &[usize] = &[rows, 3];
        instance.launches(&[shape; 3], &arguments).unwrap()
    };
    let launch = |blocks| CudaLaunch {
        entry: "weighted_add_f32".to_owned(),
        grid: [blocks, 1, 1],
        block: [256, 1, 1],
        shared_bytes: 0,
    };
    assert_eq!(launches(1000).launches, [launch(12)]);
    assert_eq!(launches(0).launches, [launch(1)]);
    assert_eq!(launches(1 << 40).launches, [launch(1024)]);
    assert_eq!(launches(1000).scratch_bytes, 0);
}

#[test]
fn a_map() {
    let codelet = Witch::codelet::<f64>();
    assert_eq!(codelet.no_cuda, None);
    let instance = codelet.cuda.expect("a map has a kernel in CUDA");
    check_image(&instance, |image| match image {
        CudaImage::Source(text) => text.contains("narrow<T>(C(1) / (C(1) + x * x))"),
        _ => false,
    });
    let launches = instance.launches(&[&[1025], &[1025]], &[]).unwrap();
    assert_eq!(launches.launches[0].entry, "witch_f64");
    assert_eq!(launches.launches[0].grid, [2, 1, 1]);
}
