//! Compiles the CUDA kernels for the CPU and writes their tables.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The beginning of kernels that are not instances of templates.
const MARK: &str = "extern \"C\" __global__ void ";

/// Set if the crates are checked and nothing is linked, since compiling the kernels takes minutes.
const CHECK_ONLY: &str = "DAHL_CHECK_ONLY";

/// The files whose kernels the tests of devices (`tests/cuda-devices`) launch.
const LAUNCHED: [&str; 34] = [
    "activation",
    "adam",
    "adaptive_pool",
    "arithmetic",
    "attention",
    "attention_backward",
    "average",
    "batch_norm",
    "bias",
    "clip",
    "comparison",
    "conv2d",
    "conv2d_relu",
    "copy",
    "cross_entropy",
    "descend",
    "dropout",
    "exponential",
    "fill",
    "gather",
    "heads",
    "layer_norm",
    "loss_scaler",
    "lstm_cell",
    "matmul",
    "matmul_batched",
    "mistakes",
    "norm",
    "pool2d",
    "random",
    "reduce",
    "shuffle",
    "slice",
    "softmax",
];

fn main() {
    let all = env::var_os("CARGO_FEATURE_ALL").is_some();
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("Cargo sets OUT_DIR"));
    let mut generated = write_maps(Path::new("../../src/ops"), &out.join("maps"));
    let mut build = cc::Build::new();
    build
        .cpp(true)
        .std("c++17")
        .opt_level(u32::from(all))
        .debug(false)
        .pic(true)
        .define("DAHL_ON_CPU", None)
        .define("DAHL_CHECKED", None)
        .include("../../dahl-cuda/include")
        .include("../../kernels/include")
        .include("src")
        .flag("-fvisibility=hidden")
        .flag("-ffp-contract=off")
        .flag("-fno-strict-aliasing")
        .flag("-Wno-unknown-pragmas")
        .flag("-Wno-unused-parameter")
        .file("src/switch.cpp");
    let folders = [
        ("operations", Path::new("../.."), "kernels"),
        ("networks", Path::new("../../dahl-nn"), "kernels"),
        ("mistakes", Path::new("."), "kernels"),
    ];
    for (name, package, folder) in folders.into_iter().chain([("generated", &*out, "maps")]) {
        let on_cpu =
            dahl_build::on_cpu(package, folder, &out.join(name)).unwrap_or_else(|error| panic!("{error}"));
        for unit in &on_cpu.units {
            let stem = unit.file_stem().expect("a file").to_str().expect("a name");
            if !all && !LAUNCHED.contains(&stem) {
                continue;
            }
            build.file(unit);
            let source = package.join(folder).join(unit.file_name().expect("a file")).with_extension("cu");
            add_entries(unit, &source);
        }
        // Programs that the runtime compiles at first use.
        for program in dahl_build::programs(package, folder).unwrap_or_else(|error| panic!("{error}")) {
            let (entries, others) = program.texts.split_first().expect("a text of entry points");
            let others = others.iter().map(|(name, text)| format!("{name}\n{text}"));
            let text = [entries.1.clone()].into_iter().chain(others).collect::<String>();
            let _ = writeln!(generated, "{{0x{:016x}, \"{}\"}},", hash(&text), program.entries.join(" "));
        }
        fs::write(out.join(format!("{name}.rs")), on_cpu.table).expect("OUT_DIR is writable");
    }
    let reductions = Path::new("../../dahl-core/src/cuda/fold.cu");
    for source in [Path::new("others/plain.cu"), reductions] {
        let source = fs::canonicalize(source).expect("the kernels are there");
        let unit = out.join(source.file_name().expect("a file")).with_extension("cpp");
        fs::write(&unit, format!("#include \"{}\"\n", source.display())).expect("OUT_DIR is writable");
        add_entries(&unit, &source);
        build.file(unit);
    }
    // The runtime's own kernels, likewise.
    let text = fs::read_to_string(reductions).expect("a kernel is text");
    let names = entries(&text).collect::<Vec<_>>().join(" ");
    let _ = writeln!(generated, "{{0x{:016x}, \"{names}\"}},", hash(&text));
    fs::write(out.join("maps.inc"), generated).expect("OUT_DIR is writable");
    for other in [
        "../../kernels",
        "../../dahl-nn/kernels",
        "../../dahl-core/src/cuda/fold.cu",
        "kernels",
        "others",
        "../../dahl-cuda/include",
        "src",
    ] {
        println!("cargo::rerun-if-changed={other}");
    }
    println!("cargo::rerun-if-env-changed={CHECK_ONLY}");
    if env::var_os(CHECK_ONLY).is_none() {
        build.compile("dahl_cuda_kernels");
    }
    println!("cargo::metadata=FOLDER={}", out.display());
}

/// Makes a unit add its entry points to the library's table, including those that the kernel's own file writes out.
fn add_entries(unit: &Path, source: &Path) {
    let source = fs::read_to_string(source).expect("a kernel is text");
    let text = fs::read_to_string(unit).expect("it was written just now");
    let mut text = format!("#include \"entry.h\"\n{text}\n");
    for name in entries(&source) {
        let _ = writeln!(text, "DAHL_ON_CPU_ENTRY({name}, &::{name})");
    }
    fs::write(unit, text).expect("OUT_DIR is writable");
}

/// The names of the entry points that a file writes out.
fn entries(source: &str) -> impl Iterator<Item = &str> {
    source.split(MARK).skip(1).map(|entry| {
        let entry = match entry.strip_prefix("__launch_bounds__(") {
            Some(bounds) => bounds[bounds.find(')').expect("its end") + 1..].trim_start(),
            None => entry,
        };
        &entry[..entry.find('(').expect("parameters")]
    })
}

/// Writes the kernels of the maps that the files in `folder` declare: `map_NAME` for each, into files of the same names.
///
/// Returns a list of these texts: for each its hash, and the names of its entry points.
fn write_maps(folder: &Path, to: &Path) -> String {
    println!("cargo::rerun-if-changed={}", folder.display());
    // An earlier build may have written files that this one does not write.
    let _ = fs::remove_dir_all(to);
    fs::create_dir_all(to).expect("OUT_DIR is writable");
    let mut generated = String::new();
    for entry in fs::read_dir(folder).expect("the operations are there") {
        let path = entry.expect("an entry of the folder").path();
        let source = fs::read_to_string(&path).expect("a file of Rust is text");
        let declarations = dahl_cuda::map::declarations(&source).expect("it is Rust");
        let maps: Vec<_> = declarations.iter().filter_map(|found| found.map.as_ref().ok()).collect();
        let text: String = maps.iter().map(|map| map.marked()).collect();
        for map in maps {
            let names = entries(&map.source).collect::<Vec<_>>().join(" ");
            let _ = writeln!(generated, "{{0x{:016x}, \"{names}\"}},", hash(&map.source));
        }
        if !text.is_empty() {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            fs::write(to.join(name + ".cu"), text).expect("OUT_DIR is writable");
        }
    }
    generated
}

/// FNV-1a, as in the fake NVRTC.
fn hash(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
