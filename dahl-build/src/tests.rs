//! Whole packages, generated into a temporary folder: what is generated, and which errors stop the build.

use std::fs;
use std::path::PathBuf;

use crate::Package;

/// A package of its own, removed at the end.
struct Fixture {
    folder: PathBuf,
    package: Package,
}

impl Fixture {
    /// A package `name` with the given files.
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let folder = std::env::temp_dir().join(format!("dahl-build-{}-{name}", std::process::id()));
        fs::create_dir_all(folder.join("out")).unwrap();
        for (file, text) in files {
            let path = folder.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        // The tests run on the platform that they were compiled on.
        let platform = env!("DAHL_BUILD_TARGET").to_owned();
        let package = Package {
            folder: folder.display().to_string(),
            out: folder.join("out").display().to_string(),
            target: platform.clone(),
            host: platform,
            prefix: format!("dahl_kernel_{name}"),
        };
        Self { folder, package }
    }

    fn error(&self) -> String {
        self.package.generate("kernels").unwrap_err().to_string()
    }

    fn table(&self) -> String {
        self.package.generate("kernels").unwrap();
        fs::read_to_string(self.folder.join("out/kernels.rs")).unwrap()
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

#[test]
fn the_table_has_a_constant_for_each_file() {
    let scale = "#include \"dahl.h\"\n#include \"factor.h\"\nstatic void scale(dahl_out x, DAHL_REAL a, int64_t n) {\n\
        x.data[0] *= a * FACTOR * n;\n}\n";
    let files = [("kernels/scale.c", scale), ("kernels/include/factor.h", "#define FACTOR 2\n")];
    let table = Fixture::new("scale", &files).table();
    for expected in [
        "pub const SCALE_C: dahl_private::CKernel",
        "(\"scale_c\", \"scale\", \"kernels/scale.c:3\")",
        "&[dahl_private::CView::Out],",
        "&[dahl_private::CArgument::Real, dahl_private::CArgument::I64],",
        "Some(dahl_kernel_scale_scale_f32),",
        "Some(dahl_kernel_scale_scale_f64),",
    ] {
        assert!(table.contains(expected), "{expected}: not in\n{table}");
    }
}

#[test]
fn a_folder_without_kernels_gives_an_empty_table() {
    let table = Fixture::new("empty", &[("kernels/README.md", "later")]).table();
    assert!(!table.contains("pub const"));
}

#[test]
fn a_missing_folder_is_named() {
    let error = Fixture::new("missing", &[]).error();
    assert!(error.contains("kernels: there is no such folder: expected C kernels there"), "{error}");
}

#[test]
fn a_file_whose_name_is_no_function() {
    let error = Fixture::new("name", &[("kernels/Dot-2.c", "")]).error();
    assert!(error.starts_with("kernels/Dot-2.c: the file's name is the kernel's: expected"), "{error}");
}

#[test]
fn a_wrong_signature_is_named_with_its_line() {
    let error = Fixture::new("wrong", &[("kernels/dot.c", "\nstatic void dot(dahl_inn x) {}")]).error();
    assert!(error.starts_with("kernels/dot.c:2: `dahl_inn x` has the unknown type `dahl_inn`"), "{error}");
}

#[test]
fn code_that_does_not_compile_is_named() {
    let source = "#include \"dahl.h\"\nstatic void dot(dahl_in x) { (void)x; undeclared = 1; }";
    let error = Fixture::new("compile", &[("kernels/dot.c", source)]).error();
    assert!(error.starts_with("kernels/dot.c: the C kernels were not compiled"), "{error}");
    assert!(error.contains("the compiler's messages are"), "{error}");
}
