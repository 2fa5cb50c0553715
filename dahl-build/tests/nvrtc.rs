//! NVRTC compiles every entry point of dahl's kernels on its own, as a program does at first use. Needs the library,
//! which `DAHL_NVRTC` names, and no device.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use dahl_cuda::nvrtc::{Error, Nvrtc, Program, Target};

/// The devices: A100 and H100.
const CAPABILITIES: [u32; 2] = [80, 90];

/// If set, the test compiles all entry points instead of some of each file, and prints their compile times.
const ALL: &str = "DAHL_NVRTC_ALL";

/// The packages with kernels, and the kernels of the runtime. The published package has none of them.
const PACKAGES: [&str; 3] = ["..", "../dahl-nn", "../tests/user-crate"];
const FOLD: &str = "../dahl-core/src/cuda/fold.cu";

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

/// An entry point to compile.
struct Work {
    program: usize,
    entry: String,
    capability: u32,
}

/// The fraction of each file's entry points that the test compiles.
const ONE_IN: u64 = 16;

#[test]
fn every_entry_point_compiles_by_itself() {
    let Some(nvrtc) = nvrtc() else { return };
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let packages = PACKAGES.iter().map(|package| here.join(package));
    let programs: Vec<_> = packages
        .filter(|package| package.join("kernels").is_dir())
        .flat_map(|package| dahl_build::programs(&package, "kernels").expect("dahl's kernels are right"))
        .collect();
    let is_all = std::env::var_os(ALL).is_some_and(|all| all == "1");
    let days = std::time::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs() / 86_400);
    let mut work = Vec::new();
    for (program, known) in programs.iter().enumerate() {
        for (index, entry) in known.entries.iter().enumerate() {
            let turn = days.wrapping_add((program + index) as u64) % ONE_IN;
            for (capability, its_turn) in CAPABILITIES.into_iter().zip([0, ONE_IN / 2]) {
                if is_all || turn == its_turn {
                    work.push(Work { program, entry: entry.clone(), capability });
                }
            }
        }
    }
    println!("{} compilations, {ALL}={}, day {days}", work.len(), u8::from(is_all));
    let next = AtomicUsize::new(0);
    let (times, mistakes) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    let compile = || {
        while let Some(Work { program, entry, capability }) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
            let known = &programs[*program];
            let texts: Vec<_> = known.texts.iter().map(|(name, text)| (&**name, &**text)).collect();
            let source = dahl_cuda::one_entry(texts[0].1, entry);
            let begin = Instant::now();
            let program = Program { name: texts[0].0, source: &source, headers: &texts[1..] };
            match nvrtc.compile(program, Target::Machine(*capability)) {
                // Machine code lists the names of its kernels: it must have this one, and no other.
                Ok(code) => {
                    let others = known.entries.iter().filter(|other| has(&code, other)).count();
                    if !has(&code, entry) || others != 1 {
                        let fact = format!("{}: {entry} for sm_{capability}: {others} entries", known.shown);
                        mistakes.lock().unwrap().push(fact);
                    }
                    let time = begin.elapsed();
                    times.lock().unwrap().push((time, code.len(), &*known.shown, entry, *capability));
                }
                Err(error) => {
                    let fact = format!("{}: {entry} for sm_{capability}: {error}", known.shown);
                    mistakes.lock().unwrap().push(fact);
                }
            }
        }
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| (0..cores).for_each(|_| drop(scope.spawn(compile))));
    let mistakes = mistakes.into_inner().unwrap();
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
    let mut times = times.into_inner().unwrap();
    times.sort_unstable();
    for (time, bytes, file, entry, capability) in times.iter().rev() {
        println!("{:>6} ms {bytes:>8} bytes  {entry}, sm_{capability} ({file})", time.as_millis());
    }
    let total: Duration = times.iter().map(|(time, ..)| *time).sum();
    if let Some((median, ..)) = times.get(times.len() / 2) {
        println!("{total:.1?} in all, half of them in at most {median:.0?}");
    }
}

/// Whether machine code has the kernel: the section `.text.NAME`.
fn has(code: &[u8], entry: &str) -> bool {
    let section = format!(".text.{entry}\0");
    code.windows(section.len()).any(|part| part == section.as_bytes())
}

#[test]
fn the_kernels_of_the_runtime_compile() {
    let Some(nvrtc) = nvrtc() else { return };
    let Ok(text) = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(FOLD)) else { return };
    for capability in CAPABILITIES {
        let begin = Instant::now();
        let code = nvrtc.compile(&*text, Target::Machine(capability)).unwrap();
        assert!(has(&code, "fold_sum_f32"));
        println!("fold.cu for sm_{capability}: {:.0?}, {} bytes", begin.elapsed(), code.len());
    }
}

#[test]
fn what_is_wrong_is_said_with_file_and_line() {
    let Some(nvrtc) = nvrtc() else { return };
    let package = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(package.path().join("kernels/include")).unwrap();
    let kernel = "#include \"dahl.cuh\"\n#include \"part.cuh\"\nusing namespace dahl;
DAHL_KERNEL(first, types(T: f32 f64), grid(1), block(32))
template <class T> __global__ void first(View<const T, 1> x, View<T, 1> out) { out.at(0) = part(x.at(0)); }";
    std::fs::write(package.path().join("kernels/first.cu"), kernel).unwrap();
    std::fs::write(
        package.path().join("kernels/include/part.cuh"),
        "#pragma once\ntemplate <class T>\n__device__ T part(T x) { return undeclared(x); }\n",
    )
    .unwrap();
    let programs = dahl_build::programs(package.path(), "kernels").unwrap();
    assert_eq!(programs.len(), 1);
    assert_eq!(programs[0].entries, ["first_f32", "first_f64"]);
    let texts: Vec<_> = programs[0].texts.iter().map(|(name, text)| (&**name, &**text)).collect();
    let names: Vec<_> = texts.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["first_entries.cu", "first.cu", "part.cuh"]);
    let source = dahl_cuda::one_entry(texts[0].1, "first_f64");
    let program = Program { name: texts[0].0, source: &source, headers: &texts[1..] };
    let error = nvrtc.compile(program, Target::Machine(90)).unwrap_err();
    let Error::Refused(messages) = &error else { panic!("{error}") };
    assert!(messages.contains("part.cuh(3)") && messages.contains("undeclared"), "{messages}");
    assert!(messages.contains("first_f64") || messages.contains("double"), "{messages}");
}
