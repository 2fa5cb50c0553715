//! CUDA files: how they are read, what is generated, and which errors stop the build. Where there is nvcc, it compiles.

use std::fs;
use std::path::{Path, PathBuf};

use expect_test::expect;

use super::architectures::Architectures;
use super::element::ElementType;
use super::embedded::Texts;
use super::entries::for_device;
use super::kernel::Kernel;
use super::ptx::{Kept, keep, kept};
use super::source::Source;
use super::table::{Image, table};
use super::toolkit::Toolkit;
use super::{includes, maps};

const SUM_ROWS: &str = "#include \"dahl.cuh\"
using namespace dahl;

constexpr int TILE = 8 * 4;

template <class T> __global__ void sum_parts(View<const T, 2> a, View<compute_t<T>, ANY> out, size_t axis, Extents<2> size, Task task) {}

DAHL_KERNEL(sum_rows, types(T: f16 f32), let(each = 256), let(parts = blocks(a.len(), each)), scratch(sizeof(compute_t<T>) * parts),
            pass(sum_parts, grid(parts, a.extent(axis) + size[1]), block(TILE, 4), shared(TILE * sizeof(T))),
            pass(sum_rows, grid(max(1, out.len() / 2)), block(256)))
template <class T>
__global__ void sum_rows(dahl::View<const T, 2> a, View<compute_t<T>, dahl::ANY> out, const size_t axis, Extents<2> size, Task task) {
    if (threadIdx.x == 0) out.element(0) = compute_t<T>(axis);
}
";

/// A package with these files, removed at the end.
struct Package(tempfile::TempDir);

impl Package {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("out")).unwrap();
        for (file, text) in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self(folder)
    }

    fn path(&self, file: &str) -> PathBuf {
        self.0.path().join(file)
    }

    fn sources(&self) -> Vec<Source> {
        Source::find(self.0.path(), "kernels").unwrap()
    }
}

fn error(source: &str) -> String {
    Kernel::read_all("kernels/a.cu", source).unwrap_err().to_string()
}

/// nvcc with its default options; none, with a note, if it is not installed.
fn toolkit() -> Option<Toolkit> {
    let toolkit = Toolkit::find().unwrap();
    if toolkit.is_none() {
        println!("skipped: there is no nvcc");
    }
    Some(toolkit?.checked(false).architectures(Architectures::usual()))
}

#[test]
fn the_table_says_what_a_kernel_takes_and_how_it_is_launched() {
    let package = Package::new(&[("kernels/sum_rows.cu", SUM_ROWS)]);
    let text = table(
        &package.sources()[0],
        &Image::Program(vec!["sum_rows_entries.cu".to_owned(), "sum_rows.cu".to_owned()]),
    );
    expect![[r#"

        /// The device code of `kernels/sum_rows.cu`.
        static IMAGE_OF_SUM_ROWS: CudaImage = CudaImage::Program(CudaProgram::new(&CUDA_TEXTS, &["sum_rows_entries.cu", "sum_rows.cu"]));

        /// The kernel `sum_rows` of `kernels/sum_rows.cu:12`.
        pub const SUM_ROWS: &CudaKernel = &CudaKernel::new("sum_rows", "kernels/sum_rows.cu:12", &IMAGE_OF_SUM_ROWS)
            .types(&[CudaTypeParameter { name: "T", types: &["f16", "f32"] }])
            .takes(
                &[CudaView { is_const: true, element: CudaElement::Parameter(0), rank: Some(2) }, CudaView { is_const: false, element: CudaElement::Compute(0), rank: None }],
                &[CudaArgument { element: CudaElement::Fixed("usize"), len: CudaLen::One }, CudaArgument { element: CudaElement::Fixed("usize"), len: CudaLen::Items(2) }],
            )
            .task(&[CudaStep::SizeOf(CudaElement::Compute(0)), CudaStep::Len(0), CudaStep::Number(256), CudaStep::Blocks, CudaStep::Multiply])
            .passes(&[CudaPass { function: "sum_parts", grid: [&[CudaStep::Len(0), CudaStep::Number(256), CudaStep::Blocks], &[CudaStep::Argument(0), CudaStep::Extent(0), CudaStep::Number(1), CudaStep::Item(1), CudaStep::Add], &[CudaStep::Number(1)]], block: [32, 4, 1], shared_bytes: &[CudaStep::Number(32), CudaStep::SizeOf(CudaElement::Parameter(0)), CudaStep::Multiply] }, CudaPass { function: "sum_rows", grid: [&[CudaStep::Number(1), CudaStep::Len(1), CudaStep::Number(2), CudaStep::Divide, CudaStep::Max], &[CudaStep::Number(1)], &[CudaStep::Number(1)]], block: [256, 1, 1], shared_bytes: &[CudaStep::Number(0)] }]);
    "#]].assert_eq(&text.replace("dahl_private::", "").replace("::core::option::Option::", ""));
}

#[test]
fn each_pass_has_an_entry_point_for_each_type() {
    let package = Package::new(&[("kernels/sum_rows.cu", SUM_ROWS)]);
    let text = for_device(&package.sources()[0]);
    let (_, entries) = text.split_once("namespace dahl_entries {").unwrap();
    expect![[r#"


        #if !defined(DAHL_ONE_ENTRY) || defined(DAHL_ENTRY_sum_parts_f16)
        extern "C" __global__ void __launch_bounds__(128)
        sum_parts_f16(dahl::View<const dahl::f16, 2> p0, dahl::View<float, dahl::ANY> p1, size_t p2, dahl::Extents<2> p3, dahl::Task p4) {
            ::sum_parts<dahl::f16>(p0, p1, p2, p3, p4);
        }
        #endif

        #if !defined(DAHL_ONE_ENTRY) || defined(DAHL_ENTRY_sum_rows_f16)
        extern "C" __global__ void __launch_bounds__(256)
        sum_rows_f16(dahl::View<const dahl::f16, 2> p0, dahl::View<float, dahl::ANY> p1, size_t p2, dahl::Extents<2> p3, dahl::Task p4) {
            ::sum_rows<dahl::f16>(p0, p1, p2, p3, p4);
        }
        #endif

        #if !defined(DAHL_ONE_ENTRY) || defined(DAHL_ENTRY_sum_parts_f32)
        extern "C" __global__ void __launch_bounds__(128)
        sum_parts_f32(dahl::View<const float, 2> p0, dahl::View<float, dahl::ANY> p1, size_t p2, dahl::Extents<2> p3, dahl::Task p4) {
            ::sum_parts<float>(p0, p1, p2, p3, p4);
        }
        #endif

        #if !defined(DAHL_ONE_ENTRY) || defined(DAHL_ENTRY_sum_rows_f32)
        extern "C" __global__ void __launch_bounds__(256)
        sum_rows_f32(dahl::View<const float, 2> p0, dahl::View<float, dahl::ANY> p1, size_t p2, dahl::Extents<2> p3, dahl::Task p4) {
            ::sum_rows<float>(p0, p1, p2, p3, p4);
        }
        #endif

        } // namespace dahl_entries
    "#]].assert_eq(entries);
}

#[test]
fn resident_blocks_depend_on_the_type() {
    let source =
        "DAHL_KERNEL(a, types(T: f16 f64), grid(1), block(64, 4), resident(8 / sizeof(compute_t<T>)))
        template <class T> __global__ void a(View<T, ANY> out) {}";
    let package = Package::new(&[("kernels/a.cu", source)]);
    let text = for_device(&package.sources()[0]);
    assert!(text.contains("__launch_bounds__(256, 2)\na_f16("), "{text}");
    assert!(text.contains("__launch_bounds__(256, 1)\na_f64("), "{text}");
}

#[test]
fn an_argument_of_any_length() {
    let source = "DAHL_KERNEL(pad, types(T: f32), grid(before[0] + 1), block(32))
        template <class T> __global__ void pad(View<T, ANY> out, Extents<dahl::ANY> before, Extents<ANY> after) {}";
    let package = Package::new(&[("kernels/pad.cu", source)]);
    let parameters =
        "pad_f32(dahl::View<float, dahl::ANY> p0, dahl::Extents<dahl::ANY> p1, dahl::Extents<dahl::ANY> p2)";
    assert!(for_device(&package.sources()[0]).contains(parameters));
    let text = table(&package.sources()[0], &Image::Missing("it is a test".to_owned()));
    assert_eq!(text.matches("len: dahl_private::CudaLen::Any").count(), 2);
    assert!(text.contains("Item(0)"), "{text}");
}

#[test]
fn a_kernel_without_types() {
    let source =
        "DAHL_KERNEL(fill, grid(1), block(32))\nstatic __global__ void fill(View<uint32_t, 1> out) {}";
    let kernels = Kernel::read_all("kernels/a.cu", source).unwrap();
    assert_eq!(kernels[0].instances(), [Vec::new()]);
    assert_eq!(kernels[0].line, 2);
}

#[test]
fn a_compute_type_follows_from_its_type() {
    let kernel = "DAHL_KERNEL(a, types(T: real, L: compute(T)), grid(1), block(1))
        template <class T, class L> __global__ void a(View<const T, 1> x, View<L, 1> out) {}";
    let package = Package::new(&[("kernels/a.cu", kernel)]);
    let source = &package.sources()[0];
    let names = |types: Vec<ElementType>| types.into_iter().map(|element| element.rust).collect::<Vec<_>>();
    let instances = source.kernels[0].instances().into_iter().map(names);
    assert_eq!(
        instances.collect::<Vec<_>>(),
        [["f16", "f32"], ["bf16", "f32"], ["f32", "f32"], ["f64", "f64"]]
    );
    assert!(table(source, &Image::Missing(String::new())).contains(".compute_types(&[(1, 0)])"));
}

#[test]
fn mistakes_are_named_with_their_lines() {
    let kernel = |mark: &str, parameters: &str| {
        format!("\nDAHL_KERNEL({mark})\ntemplate <class T> __global__ void a({parameters}) {{}}")
    };
    let launch = "a, types(T: real), grid(1), block(32)";
    let view = "View<const T, 2> x, View<T, ANY> out";
    for (source, expected) in [
        (String::new(), "kernels/a.cu: no `DAHL_KERNEL(NAME, ..)` in it: expected one for each kernel"),
        (
            "DAHL_KERNEL(b, grid(1), block(1))".to_owned(),
            "kernels/a.cu: expected `__global__ void b(..) { .. }`",
        ),
        (
            kernel("A, grid(1), block(1)", view),
            "kernels/a.cu:2: DAHL_KERNEL: `A` is not a name of an operation",
        ),
        (
            kernel("a, types(T: reel), grid(1), block(1)", view),
            "kernels/a.cu:2: `T : reel`: expected `types(T: real)`",
        ),
        (
            kernel("a, types(T: real, L: compute(U)), grid(1), block(1)", view),
            "kernels/a.cu:2: `L : compute ( U )`: expected `types(T: real)`",
        ),
        (
            kernel("a, grid(1), block(1)", view),
            "kernels/a.cu:3: `template<classT>__global__` stands before `void a`",
        ),
        (
            kernel("a, types(T: real), grid(1)", view),
            "kernels/a.cu:2: DAHL_KERNEL: `a` needs `grid(..)` and `block(..)`",
        ),
        (
            kernel("a, types(T: real), grid(1), block(64, 32)", view),
            "kernels/a.cu:2: DAHL_KERNEL: `block(..)` of `a`: expected numbers, 1 to 1024",
        ),
        (
            kernel("a, types(T: real), grid(1), block(256), resident(9)", view),
            "kernels/a.cu:3: `resident(..)` of `a`: expected a number that depends on types alone",
        ),
        (
            kernel("a, types(T: real), grid(1), block(32), resident(x.len())", view),
            "kernels/a.cu:3: `resident(..)` of `a`: expected a number that depends on types alone",
        ),
        (
            kernel("a, types(T: real), grid(x.size()), block(1)", view),
            "kernels/a.cu:2: `x.size` is unknown: a view has",
        ),
        (
            kernel("a, types(T: real), grid(rows), block(1)", view),
            "kernels/a.cu:2: `rows` is not a parameter of the kernel: these are `x`, `out`",
        ),
        (
            kernel("a, types(T: real), grid(x.len() 2), block(1)", view),
            "kernels/a.cu:2: `2` is not expected here",
        ),
        (
            kernel("a, types(T: real), scratch(8), grid(1), block(1)", view),
            "kernels/a.cu:3: `a` has `scratch(..)`: add a last parameter",
        ),
        (
            kernel("a, types(T: real), let(n, 2), grid(1), block(1)", view),
            "kernels/a.cu:2: expected `let(NAME = NUMBER)`",
        ),
        (
            kernel("a, types(T: real), let(n = m), let(m = 1), grid(1), block(1)", view),
            "kernels/a.cu:2: `m` is not a parameter of the kernel",
        ),
        (
            kernel("a, types(T: real), let(x = 2), grid(1), block(1)", view),
            "kernels/a.cu:2: `let(x = ..)`: another number, parameter or function has this name",
        ),
        (
            kernel("a, types(T: real), let(min = 2), grid(1), block(1)", view),
            "kernels/a.cu:2: `let(min = ..)`: another number, parameter or function has this name",
        ),
        (
            format!(
                "constexpr int n = 4;\n{}",
                kernel("a, types(T: real), let(n = 2), grid(n), block(1)", view)
            ),
            "kernels/a.cu:3: `let(n = ..)`: another number, parameter or function has this name",
        ),
        (
            kernel("a, types(T: real), grid(1), block(1), when(x)", view),
            "kernels/a.cu:2: DAHL_KERNEL: `when(..)` is unknown",
        ),
        (kernel(launch, ""), "kernels/a.cu:3: the kernel takes 0 arrays: expected 1 to 16"),
        (
            kernel(launch, "View<const T, 9> x"),
            "kernels/a.cu:3: `View < const T , 9 > x`: expected `View<const T, RANK>`",
        ),
        (kernel(launch, "const T *x"), "kernels/a.cu:3: `const T * x`: expected `View<const T, RANK> name`"),
        (
            kernel(launch, "View<T, 1> x, size_t n, View<T, 1> y"),
            "kernels/a.cu:3: `View < T , 1 > y`: arrays come before plain arguments",
        ),
        (
            kernel(launch, "View<T, 1> x, Extents<rank> n"),
            "kernels/a.cu:3: `Extents < rank > n`: expected a number or `ANY`",
        ),
        (
            kernel(launch, "View<T, 1> x, Task task, size_t n"),
            "kernels/a.cu:3: `size_t n`: `Scratch` or `Task` is the last parameter",
        ),
        (
            kernel("a, types(T: real), pass(b, grid(1), block(1)), pass(a, grid(1), block(1))", view)
                + "\ntemplate <class T> __global__ void b(View<T, 1> x) {}",
            "kernels/a.cu:4: the pass `b` takes other parameters than `a`",
        ),
    ] {
        let error = error(&source);
        assert!(error.starts_with(expected), "{error}\nexpected: {expected}");
    }
}

#[test]
fn two_kernels_of_one_name_are_named() {
    let kernel = "DAHL_KERNEL(one, grid(1), block(1))\n__global__ void one(View<float, 1> x) {}";
    let package = Package::new(&[("kernels/a.cu", kernel), ("kernels/b.cu", kernel)]);
    let error = Source::find(package.0.path(), "kernels").unwrap_err().to_string();
    assert_eq!(error, "kernels/b.cu:2: another kernel `one` is in kernels/a.cu: expected one of each name");
}

#[test]
fn ptx_of_another_version_is_not_taken() {
    let package = Package::new(&[("kernels/sum_rows.cu", SUM_ROWS), ("kernels/include/part.cuh", "")]);
    let kernels = package.path("kernels");
    let state = || match kept(&kernels, &package.sources()[0]).unwrap() {
        Kept::Fits(_) => "fits",
        Kept::Stale(_) => "stale",
        Kept::Missing => "missing",
    };
    assert_eq!(state(), "missing");
    let Some(toolkit) = toolkit() else { return };
    let out = package.path("out");
    let includes = includes(&kernels, &out).unwrap();
    keep(&toolkit, &kernels, &package.sources(), &out, &includes).unwrap();
    assert_eq!(state(), "fits");
    fs::write(package.path("kernels/include/part.cuh"), "// another").unwrap();
    assert_eq!(state(), "stale");
    fs::write(package.path("kernels/include/part.cuh"), "").unwrap();
    assert_eq!(state(), "fits");
    fs::write(package.path("kernels/sum_rows.cu"), SUM_ROWS.replace("axis);", "axis + 1);")).unwrap();
    assert_eq!(state(), "stale");
}

#[test]
fn a_program_has_the_texts_that_it_includes_and_no_others() {
    let source = SUM_ROWS
        .replace("using namespace", "  #  include \"part.cuh\"\n#include <cuda_fp16.h>\nusing namespace");
    let package = Package::new(&[
        ("kernels/sum_rows.cu", &source),
        (
            "kernels/include/part.cuh",
            "#include \"inner.h\"\n#include \"dahl.cuh\"\n#include \"absent.cuh\"\n",
        ),
        ("kernels/inner.h", "#include \"part.cuh\"\n"),
        ("kernels/include/other.cuh", ""),
    ]);
    let (kernels, sources) = (package.path("kernels"), package.sources());
    let texts = Texts::read(&kernels, &sources).unwrap();
    assert_eq!(texts.of(&sources[0]), ["sum_rows_entries.cu", "inner.h", "part.cuh", "sum_rows.cu"]);
    assert_eq!(texts.not_found(&sources[0]), ["\"absent.cuh\"", "<cuda_fp16.h>"]);
    let packed = dahl_cuda::texts::unpack(&texts.pack().unwrap()).unwrap();
    let names: Vec<_> = packed.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names, ["inner.h", "other.cuh", "part.cuh", "sum_rows.cu", "sum_rows_entries.cu"]);
}

#[test]
fn maps_are_compiled_once_by_the_same_options() {
    let Some(toolkit) = toolkit() else { return };
    let map = "#[codelet(R, W)] fn twice<T: Real>(x: T) -> T { x + x }";
    let package = Package::new(&[("src/lib.rs", "mod inner;"), ("src/inner/mod.rs", map)]);
    let out = package.path("out");
    let includes = includes(&package.path("kernels"), &out).unwrap();
    let made = |toolkit: &Toolkit| {
        maps::compile(toolkit, package.0.path(), &out, &includes).unwrap();
        let files = super::source::files(&out.join("maps"), "fatbin").unwrap();
        files
            .iter()
            .map(|path| (path.clone(), fs::metadata(path).unwrap().modified().unwrap()))
            .collect::<Vec<_>>()
    };
    let first = made(&toolkit);
    assert_eq!(first.len(), 1);
    assert_eq!(made(&toolkit), first);
    fs::write(package.path("src/inner/mod.rs"), map.replace("x + x", "x + x + x")).unwrap();
    let other = made(&toolkit);
    assert_eq!(other.len(), 1);
    assert_ne!(other[0].0, first[0].0);
    let elsewhere = made(&toolkit.architectures(Architectures::parse("90-virtual").unwrap()));
    assert_eq!(elsewhere[0].0, other[0].0);
    assert_ne!(elsewhere[0].1, other[0].1);
}

#[test]
fn a_device_that_nvcc_does_not_know_leads_to_the_variable() {
    let Some(toolkit) = toolkit() else { return };
    let package = Package::new(&[("out/a.cu", "")]);
    let toolkit = toolkit.architectures(Architectures::parse("999-real").unwrap());
    let made = toolkit.fatbin(&package.path("out/a.cu"), &[], &package.path("out/a.fatbin"));
    let error = made.unwrap_err().to_string();
    assert!(error.ends_with("; DAHL_CUDA_ARCHITECTURES says for which devices it compiles"), "{error}");
}

#[test]
fn without_nvcc_nothing_that_it_made_is_left() {
    let package = Package::new(&[("out/maps/one.fatbin", ""), ("out/maps/options", "")]);
    maps::forget(&package.path("out")).unwrap();
    assert!(!package.path("out/maps/one.fatbin").exists());
    maps::forget(&package.path("none")).unwrap(); // a package that never had any
}

#[test]
fn machine_code_is_for_two_architectures_and_ptx_for_the_rest() {
    let Some(toolkit) = toolkit() else { return };
    let kernel = "DAHL_KERNEL(first, grid(1), block(1))
        __global__ void first(View<const float, 1> x, View<float, 1> out, size_t i) { out.at(0) = x.at(i); }";
    let source = format!("#include \"dahl.cuh\"\nusing namespace dahl;\n{kernel}");
    let package = Package::new(&[("kernels/first.cu", &source)]);
    let (kernels, out) = (package.path("kernels"), package.path("out"));
    let includes = includes(&kernels, &out).unwrap();
    let entries = package.path("out/entries.cu");
    fs::write(&entries, for_device(&package.sources()[0])).unwrap();
    let compiled = |toolkit: &Toolkit| {
        let to = package.path("out/first.fatbin");
        toolkit.fatbin(&entries, &includes, &to).unwrap();
        fs::read(&to).unwrap()
    };
    let image = compiled(&toolkit);
    let expected = [(PTX, 75, true), (PTX, 80, true), (MACHINE, 80, true), (MACHINE, 90, true)];
    assert_eq!(parts(&image), expected);
    // A view that checks its indices contains a message.
    let checked = compiled(&toolkit.checked(true));
    assert!(checked.len() > image.len(), "{} and {} bytes", checked.len(), image.len());
}

const PTX: u16 = 1;
const MACHINE: u16 = 2;

/// The parts of a fatbin, sorted: their kind, their compute capability, and whether they are compressed.
fn parts(image: &[u8]) -> Vec<(u16, u32, bool)> {
    let word = |at: usize| u32::from_le_bytes(image[at..at + 4].try_into().unwrap());
    let half = |at: usize| u16::from_le_bytes(image[at..at + 2].try_into().unwrap());
    assert_eq!(word(0), 0xBA55_ED50, "the magic number of fatbins");
    let (mut parts, mut at) = (Vec::new(), usize::from(half(6)));
    while at + 32 <= image.len() {
        let (header, payload) = (word(at + 4) as usize, word(at + 8) as usize);
        let flags = word(at + 40);
        parts.push((half(at), word(at + 28), flags & 0xA000 != 0));
        at += header + payload;
    }
    parts.sort_unstable();
    parts
}

#[test]
fn what_nvcc_refuses_comes_with_its_words() {
    let Some(toolkit) = toolkit() else { return };
    let package = Package::new(&[("out/a.cu", "__global__ void f() { undeclared(); }")]);
    let path = |file: &str| package.path(file);
    let error =
        toolkit.fatbin(&path("out/a.cu"), &[], Path::new(&path("out/a.fatbin"))).unwrap_err().to_string();
    assert!(error.contains("undeclared") && error.ends_with("DAHL_NVCC=0 builds without nvcc"), "{error}");
}
