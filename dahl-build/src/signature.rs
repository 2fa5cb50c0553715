//! [`Signature`]: the parameters of a C kernel, read from its source.

use crate::error::Error;
use crate::token::{Token, tokens};

/// The most arrays of a kernel: the limit of the runtime.
const MAX_VIEWS: usize = 16;

/// The kernel of a C file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Signature {
    pub(crate) name: String,
    /// The line of the name, counted from 1.
    pub(crate) line: usize,
    pub(crate) views: Vec<View>,
    pub(crate) arguments: Vec<Argument>,
}

/// How a kernel takes an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct View {
    /// The type in `dahl.h`.
    pub(crate) c: &'static str,
    /// The variant of `CView`.
    pub(crate) rust: &'static str,
}

/// How a kernel takes a plain value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Argument {
    /// The type in C.
    pub(crate) c: &'static str,
    /// The variant of `CArgument`.
    pub(crate) rust: &'static str,
}

const VIEWS: [View; 4] = [
    View { c: "dahl_in", rust: "In" },
    View { c: "dahl_out", rust: "Out" },
    View { c: "dahl_in_slice", rust: "InSlice" },
    View { c: "dahl_out_slice", rust: "OutSlice" },
];

const ARGUMENTS: [Argument; 14] = [
    Argument { c: "DAHL_REAL", rust: "Real" },
    Argument { c: "float", rust: "F32" },
    Argument { c: "double", rust: "F64" },
    Argument { c: "bool", rust: "Bool" },
    Argument { c: "size_t", rust: "Usize" },
    Argument { c: "ptrdiff_t", rust: "Isize" },
    Argument { c: "uint8_t", rust: "U8" },
    Argument { c: "uint16_t", rust: "U16" },
    Argument { c: "uint32_t", rust: "U32" },
    Argument { c: "uint64_t", rust: "U64" },
    Argument { c: "int8_t", rust: "I8" },
    Argument { c: "int16_t", rust: "I16" },
    Argument { c: "int32_t", rust: "I32" },
    Argument { c: "int64_t", rust: "I64" },
];

impl Signature {
    /// Reads the signature of the function `name` in `source`, the text of `file`.
    pub(crate) fn read(file: &str, name: &str, source: &str) -> Result<Self, Error> {
        let tokens = tokens(file, source)?;
        let mut kernel = None;
        for definition in definitions(&tokens) {
            let Some(function) = Function::of(definition) else { continue };
            if !function.before.iter().any(|token| token.is("static")) {
                let found = function.name.text;
                let fact = format!(
                    "`{found}` is not static: expected `static` before every function of a kernel file, \
                     since the file is compiled once for each element type"
                );
                return Err(Error::at(file, function.name.line, fact));
            }
            if function.name.is(name) {
                kernel = Some(function);
            }
        }
        let expected = || format!("expected the kernel `static void {name}(..) {{ .. }}`, named as the file");
        let kernel = kernel.ok_or_else(|| Error::about(file, expected()))?;
        let line = kernel.name.line;
        if let Some(other) =
            kernel.before.iter().find(|token| !["static", "inline", "void"].contains(&token.text))
        {
            let fact = format!("`{name}` does not return void but `{}`: {}", other.text, expected());
            return Err(Error::at(file, line, fact));
        }
        let mut signature = Self { name: name.to_owned(), line, views: Vec::new(), arguments: Vec::new() };
        for parameter in kernel.parameters.split(|token| token.is(",")) {
            signature.add(file, line, parameter)?;
        }
        if signature.views.is_empty() || signature.views.len() > MAX_VIEWS {
            let fact = format!(
                "`{name}` takes {} arrays: expected 1 to {MAX_VIEWS} parameters of {}",
                signature.views.len(),
                names(VIEWS.iter().map(|view| view.c))
            );
            return Err(Error::at(file, line, fact));
        }
        Ok(signature)
    }

    fn add(&mut self, file: &str, line: usize, parameter: &[Token<'_>]) -> Result<(), Error> {
        let parameter: Vec<_> = parameter.iter().filter(|token| !token.is("const")).collect();
        let text = parameter.iter().map(|token| token.text).collect::<Vec<_>>().join(" ");
        let (ty, parameter_name) = match parameter[..] {
            [] => return Ok(()),
            [ty] if ty.is("void") => return Ok(()),
            [ty, name] if ty.is_word() && name.is_word() => (ty, name),
            [first, ..] => {
                let fact = format!(
                    "`{text}`: expected a type and a name; arrays are {}, arguments plain values",
                    names(VIEWS.iter().map(|view| view.c))
                );
                return Err(Error::at(file, first.line, fact));
            }
        };
        if let Some(view) = VIEWS.iter().find(|view| ty.is(view.c)) {
            if !self.arguments.is_empty() {
                let fact = format!(
                    "array `{}` comes after a plain argument: expected arrays first, as in a codelet",
                    parameter_name.text
                );
                return Err(Error::at(file, parameter_name.line, fact));
            }
            self.views.push(*view);
        } else if let Some(argument) = ARGUMENTS.iter().find(|argument| ty.is(argument.c)) {
            self.arguments.push(*argument);
        } else {
            let known = names(VIEWS.iter().map(|view| view.c).chain(ARGUMENTS.iter().map(|known| known.c)));
            let fact = format!("`{text}` has the unknown type `{}`: expected {known}", ty.text);
            return Err(Error::at(file, ty.line.max(line), fact));
        }
        Ok(())
    }
}

/// `a, b or c`.
fn names(items: impl Iterator<Item = &'static str>) -> String {
    let items: Vec<_> = items.collect();
    let (last, others) = items.split_last().expect("a list of names has one");
    format!("{} or {last}", others.join(", "))
}

/// The function definitions of a file, up to their bodies, and everything else with braces at the outermost level.
fn definitions<'t, 's>(tokens: &'t [Token<'s>]) -> Vec<&'t [Token<'s>]> {
    let (mut definitions, mut depth, mut start) = (Vec::new(), 0_usize, 0);
    for (index, token) in tokens.iter().enumerate() {
        match token.text {
            "{" => {
                if depth == 0 {
                    definitions.push(&tokens[start..index]);
                }
                depth += 1;
            }
            "}" => {
                depth = depth.saturating_sub(1);
                start = index + 1;
            }
            ";" if depth == 0 => start = index + 1,
            _ => {}
        }
    }
    definitions
}

/// `before name ( parameters )`
struct Function<'t, 's> {
    before: &'t [Token<'s>],
    name: &'t Token<'s>,
    parameters: &'t [Token<'s>],
}

impl<'t, 's> Function<'t, 's> {
    /// The function that is defined; none for structs, enums and initialised variables.
    fn of(definition: &'t [Token<'s>]) -> Option<Self> {
        let open = definition.iter().position(|token| token.is("("))?;
        let (close, name) = (definition.len().checked_sub(1)?, open.checked_sub(1)?);
        let is_function = definition[close].is(")")
            && definition[name].is_word()
            && !definition.iter().any(|token| token.is("="));
        is_function.then(|| Self {
            before: &definition[..name],
            name: &definition[name],
            parameters: &definition[open + 1..close],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(source: &str) -> Result<Signature, String> {
        Signature::read("kernels/dot.c", "dot", source).map_err(|error| error.to_string())
    }

    fn error(source: &str) -> String {
        read(source).unwrap_err()
    }

    #[test]
    fn a_signature_over_several_lines_with_comments() {
        let source = "#include \"dahl.h\"\nenum { LANES = 8 };\nstatic const double table[] = {1.0};\n\
            typedef struct { int a; } pair;\nstatic DAHL_REAL half(DAHL_REAL x) { return x / (DAHL_REAL)2; }\n\
            static void\ndot(const dahl_in x, // the first\n    dahl_in_slice y /* , dahl_in z */,\n\
            \tdahl_out_slice out, size_t n, const DAHL_REAL alpha)\n{ if (n) { } }\n";
        let signature = read(source).unwrap();
        assert_eq!((signature.name.as_str(), signature.line), ("dot", 7));
        let views: Vec<_> = signature.views.iter().map(|view| view.rust).collect();
        assert_eq!(views, ["In", "InSlice", "OutSlice"]);
        let arguments: Vec<_> = signature.arguments.iter().map(|argument| argument.rust).collect();
        assert_eq!(arguments, ["Usize", "Real"]);
    }

    #[test]
    fn a_declaration_before_the_definition_does_not_count() {
        let source = "static void dot(dahl_in x);\n\nstatic void dot(dahl_in x) {}";
        assert_eq!(read(source).unwrap().line, 3);
    }

    #[test]
    fn a_file_without_its_kernel() {
        let expected = "kernels/dot.c: expected the kernel `static void dot(..) { .. }`, named as the file";
        assert_eq!(error("static void dott(dahl_in x) {}"), expected);
        assert_eq!(error("static void dot(dahl_in x);"), expected);
        assert_eq!(error(""), expected);
    }

    #[test]
    fn functions_are_static_and_the_kernel_returns_nothing() {
        assert!(
            error("\nvoid dot(dahl_in x) {}").starts_with("kernels/dot.c:2: `dot` is not static: expected")
        );
        let helper = "double half(double x) { return x / 2; }\nstatic void dot(dahl_in x) {}";
        assert!(error(helper).starts_with("kernels/dot.c:1: `half` is not static: expected `static`"));
        assert!(error("static int dot(dahl_in x) {}").contains("does not return void but `int`: expected"));
    }

    #[test]
    fn unknown_types_are_refused_with_the_known_ones() {
        let unknown = error("static void dot(dahl_in x,\n long n) {}");
        assert!(
            unknown.starts_with("kernels/dot.c:2: `long n` has the unknown type `long`: expected dahl_in, ")
        );
        assert!(unknown.ends_with("int32_t or int64_t"));
        let pointer = error("static void dot(const float *x) {}");
        assert!(
            pointer
                .starts_with("kernels/dot.c:1: `float * x`: expected a type and a name; arrays are dahl_in")
        );
    }

    #[test]
    fn arrays_come_first_and_there_are_some() {
        let late = error("static void dot(dahl_in x, size_t n, dahl_out out) {}");
        assert_eq!(
            late,
            "kernels/dot.c:1: array `out` comes after a plain argument: expected arrays first, as in a codelet"
        );
        assert!(error("static void dot(void) {}").contains("takes 0 arrays: expected 1 to 16"));
        let many = "dahl_in x, ".repeat(16);
        assert!(error(&format!("static void dot({many} dahl_in y) {{}}")).contains("takes 17 arrays"));
    }
}
