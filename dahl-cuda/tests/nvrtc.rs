//! NVRTC compiles every map of dahl; needs the library, and no device.

use std::path::{Path, PathBuf};

use dahl_cuda::map;
use dahl_cuda::nvrtc::{Cache, Error, Nvrtc, Target};

/// The library; none, with a note, if it is not installed.
fn nvrtc() -> Option<Nvrtc> {
    match Nvrtc::load() {
        Ok(nvrtc) => Some(nvrtc),
        Err(error) => {
            println!("skipped: {error}");
            assert!(std::env::var_os("DAHL_NVRTC").is_none(), "DAHL_NVRTC is set, and {error}");
            None
        }
    }
}

/// The files of dahl's operations; the published package has none.
fn operations() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../src/ops");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "rs"));
    files.sort();
    files
}

#[test]
fn every_map_of_dahl_compiles() {
    let Some(nvrtc) = nvrtc() else { return };
    let mut maps = 0;
    for file in operations() {
        let source = std::fs::read_to_string(&file).unwrap();
        for declaration in map::declarations(&source).unwrap() {
            let map = declaration.map.unwrap();
            let ptx = nvrtc.compile(&map.source, Target::Ptx(75));
            let ptx = ptx.unwrap_or_else(|error| panic!("{}: {}: {error}", file.display(), declaration.name));
            let text = String::from_utf8(ptx).unwrap();
            for types in map.instances() {
                let entry = format!(".visible .entry {}(", map.entry(&types));
                assert!(text.contains(&entry), "{entry} is not in the PTX of {}", declaration.name);
            }
            maps += 1;
        }
    }
    println!("{maps} maps");
}

const AXPY: &str = "
    #[codelet(R, R, W, in_place = y)]
    fn axpy<T: Real>(x: T, y: T, alpha: T) -> T { alpha * x + y }";

fn axpy() -> String {
    map::declarations(AXPY).unwrap().swap_remove(0).map.unwrap().source
}

#[test]
fn loads_and_stores_are_vectors() {
    let Some(nvrtc) = nvrtc() else { return };
    let ptx = String::from_utf8(nvrtc.compile(&axpy(), Target::Ptx(75)).unwrap()).unwrap();
    let entry = |name: &str| ptx.split(".visible .entry ").find(|text| text.starts_with(name)).unwrap();
    for (name, vector) in
        [("axpy_f16", "v4.u32"), ("axpy_bf16", "v4.u32"), ("axpy_f32", "v4.f32"), ("axpy_f64", "v2.f64")]
    {
        let text = entry(name);
        let count = |instruction: &str| text.matches(&format!("{instruction}.{vector}")).count();
        assert_eq!((count("ld.global"), count("st.global")), (2, 1), "{name}:\n{text}");
    }
}

#[test]
fn what_was_compiled_is_kept_and_what_is_broken_is_not_taken() {
    let Some(nvrtc) = nvrtc() else { return };
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::at(folder.path().join("new/folder"));
    let first = cache.compile(&nvrtc, &axpy(), Target::Machine(90)).unwrap();
    assert!(!first.is_from_cache && first.not_kept.is_none());
    let again = cache.compile(&nvrtc, &axpy(), Target::Machine(90)).unwrap();
    assert!(again.is_from_cache);
    assert_eq!(again.bytes, first.bytes);
    let other = cache.compile(&nvrtc, &axpy(), Target::Machine(80)).unwrap();
    assert!(!other.is_from_cache);
    assert_ne!(other.bytes, first.bytes);
    for file in std::fs::read_dir(folder.path().join("new/folder")).unwrap() {
        let path = file.unwrap().path();
        let content = std::fs::read(&path).unwrap();
        std::fs::write(&path, &content[..content.len() - 1]).unwrap();
    }
    let anew = cache.compile(&nvrtc, &axpy(), Target::Machine(90)).unwrap();
    assert!(!anew.is_from_cache);
    assert_eq!(anew.bytes, first.bytes);
}

#[test]
fn a_folder_that_cannot_be_written_is_no_error() {
    let Some(nvrtc) = nvrtc() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let compiled = Cache::at(file).compile(&nvrtc, &axpy(), Target::Ptx(75)).unwrap();
    assert!(!compiled.is_from_cache && compiled.not_kept.is_some());
}

#[test]
fn what_is_refused_comes_with_the_compilers_words() {
    let Some(nvrtc) = nvrtc() else { return };
    let error = nvrtc.compile("__global__ void f() { undeclared(); }", Target::Ptx(75)).unwrap_err();
    let Error::Refused(messages) = &error else { panic!("{error}") };
    assert!(messages.contains("map.cu(1)") && messages.contains("undeclared"), "{messages}");
}
