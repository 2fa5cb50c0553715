//! Compiles the CUDA kernels for the CPU and writes the table of the operations.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

const REAL: [(&str, &str); 4] =
    [("f16", "dahl::f16"), ("bf16", "dahl::bf16"), ("f32", "float"), ("f64", "double")];
const INTEGER: [(&str, &str); 4] =
    [("u8", "uint8_t"), ("u32", "uint32_t"), ("i32", "int32_t"), ("i64", "int64_t")];

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("Cargo sets OUT_DIR"));
    let maps = maps(Path::new("../../src/ops"), &out);
    let folders = [Path::new("../../kernels"), Path::new("kernels"), &maps];
    let mut table = String::new();
    let mut build = cc::Build::new();
    build
        .cpp(true)
        .std("c++17")
        .opt_level(1)
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
    for folder in folders {
        println!("cargo::rerun-if-changed={}", folder.display());
        let mut files: Vec<_> = fs::read_dir(folder)
            .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
            .map(|entry| entry.expect("an entry of the folder").path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "cu"))
            .collect();
        files.sort();
        for file in files {
            let text = fs::read_to_string(&file).expect("a kernel is text");
            let folder = folder.file_name().expect("a name").to_string_lossy();
            let unit =
                out.join(format!("{folder}_{}.cpp", file.file_stem().expect("a name").to_string_lossy()));
            fs::write(&unit, unit_of(&file, &text, &mut table)).expect("OUT_DIR is writable");
            build.file(unit);
        }
    }
    for other in ["../../dahl-cuda/include", "../../kernels/include", "src"] {
        println!("cargo::rerun-if-changed={other}");
    }
    build.compile("dahl_cuda_kernels");
    fs::write(out.join("table.rs"), format!("table! {{\n{table}}}\n")).expect("OUT_DIR is writable");
    println!("cargo::metadata=FOLDER={}", out.display());
}

/// Writes the kernels of the maps that the files in `folder` declare: `map_NAME` for each. Returns where they are.
fn maps(folder: &Path, out: &Path) -> PathBuf {
    println!("cargo::rerun-if-changed={}", folder.display());
    let to = out.join("maps");
    fs::create_dir_all(&to).expect("OUT_DIR is writable");
    for entry in fs::read_dir(folder).expect("the operations are there") {
        let path = entry.expect("an entry of the folder").path();
        let source = fs::read_to_string(&path).expect("a file of Rust is text");
        let declarations = dahl_cuda::map::declarations(&source).expect("it is Rust");
        let text: String =
            declarations.iter().filter_map(|found| found.map.as_ref().ok()).map(|map| map.marked()).collect();
        if !text.is_empty() {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            fs::write(to.join(name + ".cu"), text).expect("OUT_DIR is writable");
        }
    }
    to
}

/// The C++ file of the kernels in `text`; their lines of the table.
fn unit_of(file: &Path, text: &str, table: &mut String) -> String {
    let path = fs::canonicalize(file).expect("the file exists");
    let mut unit =
        format!("#include \"entry.h\"\n#include \"passes.h\"\n#include \"{}\"\n\n", path.display());
    let text = without_comments(text);
    let mut registered = BTreeSet::new();
    let mut register = |unit: &mut String, entry: &str, function: &str| {
        if registered.insert(entry.to_owned()) {
            let _ = writeln!(
                unit,
                "static const dahl::on_cpu::Registered<&{function}> {entry}_registered(\"{entry}\");"
            );
        }
    };
    for entry in text.split("extern \"C\" __global__ void ").skip(1) {
        let entry = match entry.strip_prefix("__launch_bounds__(") {
            Some(bounds) => bounds[closing(bounds) + 1..].trim_start(),
            None => entry,
        };
        let entry = &entry[..entry.find('(').expect("parameters")];
        register(&mut unit, entry, entry);
    }
    for mark in text.split("DAHL_KERNEL(").skip(1) {
        let inside = &mark[..closing(mark)];
        let parts = split(inside);
        let name = parts[0];
        let part = |word: &str| parts.iter().find_map(|part| inner(part, word));
        let types: Vec<(&str, Vec<(&str, &str)>)> =
            part("types").map_or(Vec::new(), |types| split(types).into_iter().map(type_parameter).collect());
        let after =
            &text[text.find(&format!("void {name}(")).unwrap_or_else(|| panic!("no kernel {name}"))..];
        let after = &after[after.find('(').expect("parameters") + 1..];
        let parameters = split(&after[..closing(after)]);
        let mut passes: Vec<_> = parts.iter().filter_map(|part| inner(part, "pass")).map(split).collect();
        if passes.is_empty() {
            passes.push([&[name], &parts[1..]].concat());
        }
        let template = types.iter().map(|(name, _)| format!("class {name}")).collect::<Vec<_>>().join(", ");
        let template = if types.is_empty() { String::new() } else { format!("template <{template}> ") };
        let declared = parameters.join(", ");
        let mut plan = format!("    plan->scratch = {};\n", part("scratch").unwrap_or("0"));
        for (index, pass) in passes.iter().enumerate() {
            for (axes, word) in [("grid", "grid"), ("block", "block")] {
                let numbers = pass.iter().find_map(|part| inner(part, word)).expect("grid and block");
                for (axis, number) in split(numbers).into_iter().enumerate() {
                    let _ = writeln!(plan, "    plan->passes[{index}].{axes}[{axis}] = unsigned({number});");
                }
            }
        }
        let _ = write!(
            unit,
            "\n{template}static void {name}_plan({declared}, dahl::on_cpu::Plan *plan) {{\n{plan}}}\n"
        );
        for instance in instances(&types) {
            let suffix: String = instance.iter().map(|(rust, _)| format!("_{rust}")).collect();
            let list = instance.iter().map(|(_, cuda)| *cuda).collect::<Vec<_>>().join(", ");
            let list = if list.is_empty() { list } else { format!("<{list}>") };
            let functions: Vec<_> = passes.iter().map(|pass| pass[0]).collect();
            for function in &functions {
                register(&mut unit, &format!("{function}{suffix}"), &format!("{function}{list}"));
            }
            let listed = functions
                .iter()
                .map(|function| format!("{{\"{function}\", dahl::on_cpu::erased<&{function}{list}>}}"));
            let _ = write!(
                unit,
                "extern \"C\" void dahl_on_cpu_{name}{suffix}(void **parameters, dahl::on_cpu::Plan *plan) {{\n    \
                 static const dahl::on_cpu::Pass passes[] = {{{}}};\n    \
                 dahl::on_cpu::run_passes({name}_plan{list}, passes, {}, parameters, plan);\n}}\n",
                listed.collect::<Vec<_>>().join(", "),
                functions.len()
            );
            let ranks: Vec<_> = parameters.iter().filter_map(|parameter| rank(parameter)).collect();
            let task = parameters.last().is_some_and(|last| last.starts_with("Task "));
            let _ = writeln!(
                table,
                "    {name}{suffix} dahl_on_cpu_{name}{suffix} \"{name}\" [{}] {task};",
                ranks.join(", ")
            );
        }
    }
    unit
}

/// `T: real`, `T: f32 f64`.
fn type_parameter(text: &str) -> (&str, Vec<(&str, &str)>) {
    let (name, set) = text.split_once(':').expect("a set of types");
    let all = || REAL.into_iter().chain(INTEGER);
    let types = match set.trim() {
        "real" => REAL.to_vec(),
        "integer" | "label" => INTEGER.to_vec(),
        "element" => all().collect(),
        list => list
            .split_whitespace()
            .map(|word| all().find(|(rust, _)| *rust == word).expect("a type"))
            .collect(),
    };
    (name.trim(), types)
}

/// Every combination.
fn instances<'a>(types: &[(&str, Vec<(&'a str, &'a str)>)]) -> Vec<Vec<(&'a str, &'a str)>> {
    types.iter().fold(vec![Vec::new()], |instances, (_, choices)| {
        let extend = |instance: Vec<(&'a str, &'a str)>| {
            choices.iter().map(move |choice| [&instance[..], &[*choice]].concat()).collect::<Vec<_>>()
        };
        instances.into_iter().flat_map(extend).collect()
    })
}

/// The rank of a view, -1 for any; nothing for an argument.
fn rank(parameter: &str) -> Option<&str> {
    let view = parameter.strip_prefix("View<")?;
    let rank = view[..view.rfind('>')?].rsplit(',').next()?.trim();
    Some(if rank == "ANY" { "-1" } else { rank })
}

fn without_comments(text: &str) -> String {
    text.lines().map(|line| line.split("//").next().unwrap_or("").to_owned() + "\n").collect()
}

/// Where the parenthesis closes that was opened before `text`.
fn closing(text: &str) -> usize {
    let mut depth = 1;
    let is_end = |letter: char| {
        depth += match letter {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        depth == 0
    };
    text.find(is_end).expect("a closing parenthesis")
}

/// What is between the parentheses of `word(..)`.
fn inner<'a>(part: &'a str, word: &str) -> Option<&'a str> {
    part.strip_prefix(word)?.strip_prefix('(')?.strip_suffix(')')
}

/// The parts between commas that are in no parentheses or angle brackets.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (index, letter) in text.char_indices() {
        match letter {
            '(' | '<' | '[' => depth += 1,
            ')' | '>' | ']' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text[start..index].trim());
                start = index + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts
}
