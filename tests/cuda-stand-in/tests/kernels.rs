//! Every kernel of dahl is there for the CPU: those whose PTX is kept beside them, with parameters of the same sizes in the same
//! places, and those of the maps of the operations.
#![allow(unsafe_code, reason = "calls the driver")]

mod program;

use std::ffi::CString;
use std::fs;
use std::path::Path;
use std::ptr::null_mut;

use cudarc::driver::sys;
use dahl_cuda::map::declarations;
use dahl_cuda::nvrtc::{Nvrtc, Target};
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

/// Where the parameters of a kernel are, and how large they are.
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

/// The same of a kernel in PTX, from the text between its parentheses: `.param .u64 x`, `.param .align 8 .b8 y[144]`.
fn parameters_in_ptx(text: &str) -> Vec<(usize, usize)> {
    let (mut parameters, mut end) = (Vec::new(), 0_usize);
    for parameter in text.split(',').map(str::trim).filter(|parameter| !parameter.is_empty()) {
        let words: Vec<_> = parameter.split_whitespace().collect();
        let (align, size) = match words[1] {
            ".align" => {
                let (_, count) = parameter.split_once('[').expect("an array of bytes");
                (words[2].parse().unwrap(), count.trim_end_matches(']').parse().unwrap())
            }
            number => {
                let bits: usize =
                    number.trim_start_matches(|letter: char| !letter.is_ascii_digit()).parse().unwrap();
                (bits / 8, bits / 8)
            }
        };
        end = end.next_multiple_of(align);
        parameters.push((end, size));
        end += size;
    }
    parameters
}

#[test]
fn every_kernel_in_ptx() {
    let mut count = 0;
    let found = with("", || {
        let _on_device = on_device(0);
        for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels/ptx")).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "ptx") {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let module = load(format!("{text}\0").as_bytes());
            for entry in text.split(".visible .entry ").skip(1) {
                let (name, rest) = entry.split_once('(').unwrap();
                let (inside, _) = rest.split_once(')').unwrap();
                let on_cpu = parameters(function(module, name));
                assert_eq!(on_cpu, parameters_in_ptx(inside), "{name} of {}", path.display());
                count += 1;
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
                // It was compiled with the stand-in, so that this takes no time: the image only names it.
                let image = nvrtc.compile(&map.source, Target::Machine(90)).unwrap();
                assert!(image.starts_with(b"// Compiled with the stand-in."), "{}", map.function);
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
    assert!(count > 100, "{count} maps");
}
