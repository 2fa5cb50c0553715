//! The Rust constants of CUDA kernels, for `kernels.rs`.

use std::fmt::Write as _;

use super::kernel::{Kernel, Pass};
use super::parameters::Last;
use super::source::Source;

/// The compiled form of a source.
#[derive(Debug)]
pub(crate) enum Image {
    /// A file in the folder of generated files, with machine code.
    Fatbin(String),
    /// One with compressed PTX.
    Ptx(String),
    /// The names of the packed texts that NVRTC needs, that of the entry points first.
    Program(Vec<String>),
    /// None, with the reason.
    Missing(String),
}

/// The constants of one source: its image and its kernels.
pub(crate) fn table(source: &Source, image: &Image) -> String {
    let static_name = format!("IMAGE_OF_{}", source.name.to_uppercase());
    let bytes = |file: &str| format!("include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{file}\"))");
    let value = match image {
        Image::Fatbin(file) => format!("Fatbin({})", bytes(file)),
        Image::Ptx(file) => format!("Ptx({})", bytes(file)),
        Image::Program(files) => {
            let files = list(files.iter().map(|file| format!("{file:?}")));
            format!("Program(dahl_private::CudaProgram::new(&CUDA_TEXTS, {files}))")
        }
        Image::Missing(reason) => format!("Missing({reason:?})"),
    };
    let mut text = format!(
        "\n/// The device code of `{}`.\nstatic {static_name}: dahl_private::CudaImage = dahl_private::CudaImage::{value};\n",
        source.shown
    );
    for kernel in &source.kernels {
        constant(&mut text, source, kernel, &static_name);
    }
    text
}

/// The texts that images of kind `Program` share: a file in the folder of generated files.
pub(crate) fn texts(file: &str) -> String {
    format!(
        "\n/// The texts of the kernels in CUDA.\nstatic CUDA_TEXTS: dahl_private::CudaTexts = \
         dahl_private::CudaTexts::new(include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{file}\")));\n"
    )
}

fn constant(text: &mut String, source: &Source, kernel: &Kernel, image: &str) {
    let Kernel { name, line, parameters, .. } = kernel;
    let place = format!("{}:{line}", source.shown);
    let types = kernel.types.iter().map(|parameter| {
        let types = parameter.types.iter().map(|element| format!("\"{}\"", element.rust)).collect::<Vec<_>>();
        let (name, types) = (&parameter.name, types.join(", "));
        format!("dahl_private::CudaTypeParameter {{ name: \"{name}\", types: &[{types}] }}")
    });
    let computes = kernel
        .types
        .iter()
        .enumerate()
        .filter_map(|(index, parameter)| parameter.compute_of.map(|of| format!("({index}, {of})")));
    let computes = match list(computes).as_str() {
        "&[]" => String::new(),
        computes => format!("\n    .compute_types({computes})"),
    };
    let views = parameters.views.iter().map(|view| {
        let (is_const, element, rank) = (view.is_const, view.element.rust(), option(view.rank));
        format!("dahl_private::CudaView {{ is_const: {is_const}, element: dahl_private::CudaElement::{element}, rank: {rank} }}")
    });
    let arguments = parameters.arguments.iter().map(|argument| {
        let (element, len) = (argument.element.rust(), argument.len.rust());
        format!("dahl_private::CudaArgument {{ element: dahl_private::CudaElement::{element}, len: dahl_private::CudaLen::{len} }}")
    });
    let scratch = kernel
        .scratch_bytes
        .as_ref()
        .map_or("&[dahl_private::CudaStep::Number(0)]".to_owned(), |bytes| bytes.rust());
    let last = match parameters.last {
        Last::Nothing => String::new(),
        Last::Scratch => format!("\n    .scratch({scratch})"),
        Last::Task => format!("\n    .task({scratch})"),
    };
    let _ = write!(
        text,
        r#"
/// The kernel `{name}` of `{place}`.
pub const {constant}: &dahl_private::CudaKernel = &dahl_private::CudaKernel::new("{name}", "{place}", &{image})
    .types({types}){computes}
    .takes(
        {views},
        {arguments},
    ){last}
    .passes({passes});
"#,
        constant = name.to_uppercase(),
        types = list(types),
        views = list(views),
        arguments = list(arguments),
        passes = list(kernel.passes.iter().map(pass)),
    );
}

fn pass(pass: &Pass) -> String {
    let none = "&[dahl_private::CudaStep::Number(0)]".to_owned();
    let grid = pass.grid.iter().map(|blocks| blocks.rust()).collect::<Vec<_>>().join(", ");
    let (function, block) = (&pass.function, pass.block);
    let shared = pass.shared_bytes.as_ref().map_or(none, |bytes| bytes.rust());
    format!(
        "dahl_private::CudaPass {{ function: \"{function}\", grid: [{grid}], block: {block:?}, shared_bytes: {shared} }}"
    )
}

fn option(number: Option<usize>) -> String {
    number.map_or("::core::option::Option::None".to_owned(), |number| {
        format!("::core::option::Option::Some({number})")
    })
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("&[{}]", items.collect::<Vec<_>>().join(", "))
}
