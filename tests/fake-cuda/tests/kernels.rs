//! Every kernel of dahl exists for the CPU, and is found by the source text that a program gives to NVRTC: that of
//! `.cu` files, and that of the maps of the operations.
#![allow(unsafe_code, reason = "calls the driver")]

mod program;

use std::ffi::CString;
use std::fs;
use std::path::Path;
use std::ptr::null_mut;

use cudarc::driver::sys;
use dahl_cuda::map::declarations;
use dahl_cuda::nvrtc::{Nvrtc, Program, Target};
use program::{on_device, with};

/// Loads an image, which ends in a zero.
fn load(image: &[u8]) -> sys::CUmodule {
    let mut module = null_mut();
    // SAFETY: a context is current, and the image ends in a zero.
    unsafe { sys::cuModuleLoadData(&mut module, image.as_ptr().cast()) }.result().unwrap();
    module
}

fn function(module: sys::CUmodule, name: &str) -> sys::CUfunction {
    let mut function = null_mut();
    let text = CString::new(name).unwrap();
    // SAFETY: the module is loaded and the name ends in zero.
    let code = unsafe { sys::cuModuleGetFunction(&mut function, module, text.as_ptr()) };
    assert_eq!(code, sys::CUresult::CUDA_SUCCESS, "{name}");
    function
}

fn has(module: sys::CUmodule, name: &str) -> bool {
    let mut function = null_mut();
    let text = CString::new(name).unwrap();
    // SAFETY: the module is loaded and the name ends in zero.
    let code = unsafe { sys::cuModuleGetFunction(&mut function, module, text.as_ptr()) };
    code == sys::CUresult::CUDA_SUCCESS
}

/// The offsets and sizes of the parameters of a kernel.
fn parameters(function: sys::CUfunction) -> Vec<(usize, usize)> {
    let mut parameters = Vec::new();
    loop {
        let (mut offset, mut size) = (0, 0);
        // SAFETY: the function is loaded.
        let code = unsafe { sys::cuFuncGetParamInfo(function, parameters.len(), &mut offset, &mut size) };
        if code != sys::CUresult::CUDA_SUCCESS {
            return parameters;
        }
        parameters.push((offset, size));
    }
}

#[test]
fn every_kernel() {
    let mut count = 0;
    let found = with("", || {
        let _on_device = on_device(0);
        let nvrtc = Nvrtc::load().unwrap();
        for package in ["../..", "../../dahl-nn"] {
            let package = Path::new(env!("CARGO_MANIFEST_DIR")).join(package);
            for program in dahl_build::programs(&package, "kernels").unwrap() {
                let texts: Vec<_> = program.texts.iter().map(|(name, text)| (&**name, &**text)).collect();
                for entry in &program.entries {
                    let source = dahl_cuda::one_entry(texts[0].1, entry);
                    let text = Program { name: texts[0].0, source: &source, headers: &texts[1..] };
                    // The kernel was compiled with the fake driver, so this takes no time: the image only names it.
                    let image = nvrtc.compile(text, Target::Machine(90)).unwrap();
                    assert!(image.starts_with(b"// Compiled with the fake driver."), "{entry}");
                    let module = load(&image);
                    assert!(!parameters(function(module, entry)).is_empty(), "{entry} of {}", program.shown);
                    let others = program.entries.iter().filter(|other| *other != entry);
                    assert!(others.take(1).all(|other| !has(module, other)), "{entry} of {}", program.shown);
                    count += 1;
                }
            }
        }
    });
    assert_eq!(found, "");
    assert!(count > 300, "{count} kernels");
}

#[test]
fn every_map() {
    let mut count = 0;
    let found = with("", || {
        let _on_device = on_device(0);
        let nvrtc = Nvrtc::load().unwrap();
        for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../src/ops")).unwrap() {
            let source = fs::read_to_string(entry.unwrap().path()).unwrap();
            let declarations = declarations(&source).unwrap();
            for map in declarations.iter().filter_map(|found| found.map.as_ref().ok()) {
                // The kernel was compiled with the fake driver, so this takes no time: the image only names it.
                let image = nvrtc.compile(&map.source, Target::Machine(90)).unwrap();
                assert!(image.starts_with(b"// Compiled with the fake driver."), "{}", map.function);
                let module = load(&image);
                for types in map.types.iter().flat_map(|(_, types)| types.iter()).take(1) {
                    let name =
                        map.types.iter().fold(map.function.clone(), |name, _| format!("{name}_{types}"));
                    let views = map.elements.len();
                    assert!(parameters(function(module, &name)).len() >= views, "{name}");
                    count += 1;
                }
            }
        }
    });
    assert_eq!(found, "");
    assert!(count > 80, "{count} maps");
}
