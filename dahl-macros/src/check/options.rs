//! Rules for the options: names in them exist, and they suit the form and the modes.

use quote::ToTokens;
use syn::{Expr, Ident, Path};

use crate::errors::Errors;
use crate::gradient::derive;
use crate::mode::Access;
use crate::model::{Codelet, Form, Kind, Rank};
use crate::parse::{GradientOption, is_c_kernel, kernel_name};
use crate::tokens;
use crate::view::Layout;

/// Reports options that contradict the declaration.
pub(super) fn check(codelet: &Codelet, errors: &mut Errors) {
    shapes(codelet, errors);
    parallel(codelet, errors);
    kernels(codelet, errors);
    in_place(codelet, errors);
    cuda(codelet, errors);
    cuda_calls(codelet, errors);
    gradient(codelet, errors);
    blocks(codelet, errors);
    rows(codelet, errors);
    moves(codelet, errors);
    if let (Form::Kernel, Some(broadcast)) = (codelet.form, &codelet.options.broadcast) {
        errors.at(broadcast, "`broadcast` stretches the inputs of a map; the views of a kernel stretch with ndarray's `broadcast` in its body");
    }
}

/// A gradient is of what `_init` makes, and its rule names arrays of the declaration.
fn gradient(codelet: &Codelet, errors: &mut Errors) {
    let Some(option) = &codelet.options.gradient else { return };
    let (span, reads): (&dyn ToTokens, _) = match option {
        GradientOption::Nothing(none) => (none, None),
        GradientOption::Adjoint(path) => (path, None),
        GradientOption::Data(_) => return,
        GradientOption::Derived(derived) => {
            if codelet.form == Form::Kernel {
                errors.at(
                    derived,
                    "only a map has a body that can be differentiated; name a function: `gradient = PATH`",
                );
            } else if let Err(refusal) = derive(codelet) {
                errors.push(syn::Error::new(refusal.span, refusal.message));
            }
            return;
        }
        GradientOption::Function { path, reads } => (path, reads.as_ref()),
    };
    for name in reads.into_iter().flatten() {
        let parameter = codelet.parameters.iter().find(|parameter| parameter.name == *name);
        match parameter {
            None => errors.at(
                name,
                format!("`{name}` is not a data parameter of `{}`; {}", codelet.name, parameters(codelet)),
            ),
            Some(parameter) if parameter.access != Access::Read && !parameter.access.is_made() => {
                errors.at(
                    name,
                    format!(
                        "`{name}` has the mode `{}`: no gradient can read its value later",
                        parameter.access
                    ),
                );
            }
            Some(_) => {}
        }
    }
    if matches!(option, GradientOption::Nothing(_)) {
        return;
    }
    let changed = codelet
        .parameters
        .iter()
        .find(|parameter| matches!(parameter.access, Access::ReadWrite | Access::Commute));
    if let Some(changed) = changed {
        errors.at(span, format!("`{}` is changed in place, so its old value is gone when a gradient needs it; read one array and write another", changed.name));
    }
    let inputs = codelet.parameters.iter().filter(|parameter| codelet.is_differentiated(parameter)).count();
    if inputs == 0 {
        errors.at(span, "no input is a real number, so there is no gradient; write `gradient = none`");
    }
    if !codelet.parameters.iter().any(|parameter| codelet.has_gradient(parameter)) {
        errors.at(span, "no output is a real number, so no gradient comes in; write `gradient = none`");
    }
    if let (GradientOption::Adjoint(path), true) = (option, inputs > 1) {
        errors.at(path, format!("`adjoint` is of an operation with one real input, and this one has {inputs}; name a function: `gradient = PATH`"));
    }
}

/// A kernel in CUDA contradicts `cpu_only`, and that of a map is generated from its body.
fn cuda(codelet: &Codelet, errors: &mut Errors) {
    let Some(path) = &codelet.options.cuda else { return };
    if let Some(cpu_only) = &codelet.options.cpu_only {
        errors.at(
            cpu_only,
            "`cpu_only` says that there is no kernel for other devices, and `cuda` names one; remove either",
        );
    }
    if codelet.form == Form::Map {
        errors.at(path, "the kernel of a map in CUDA is written from its body; remove `cuda`");
    } else if !is_c_kernel(path) {
        errors.at(path, format!("`{}` is not a kernel of the build-time generator, whose names are in upper case; write `cuda = kernels::{}`", kernel_name(path), codelet.name.to_string().to_uppercase()));
    }
}

/// Kernels that call libraries take views, and contradict `cpu_only`.
fn cuda_calls(codelet: &Codelet, errors: &mut Errors) {
    let Some(first) = codelet.options.cuda_call.first() else { return };
    if codelet.form == Form::Map {
        return errors.at(
            &first.path,
            "a library is given whole arrays, and a map has elements; declare a kernel with views",
        );
    }
    if let Some(cpu_only) = &codelet.options.cpu_only {
        errors.at(
            cpu_only,
            "`cpu_only` says that there is no kernel for other devices, and `cuda_call` names one; remove either",
        );
    }
    for parameter in &codelet.parameters {
        let is_array = matches!(&parameter.kind, Kind::View(view) if matches!(view.layout, Layout::Axes(_)));
        if !is_array && !matches!(parameter.kind, Kind::Unknown) {
            errors.at(&parameter.name, format!("`{}` has no rank, and the arrays that `cuda_call` gets have one: take an `ArrayView1` or the like", parameter.name));
        }
    }
    for call in &codelet.options.cuda_call {
        for (index, word) in call.words.iter().enumerate() {
            let before = &call.words[..index];
            if !is_library(word) && word != "equal" && word != "last" {
                errors.at(
                    word,
                    format!(
                        "`{word}` is not said of a kernel that calls a library; `cublas`, `cudnn`, `equal` and `last` are"
                    ),
                );
            } else if before.contains(word) {
                errors.at(word, format!("`{word}` is said twice; keep one"));
            } else if is_library(word) && before.iter().any(is_library) {
                errors
                    .at(word, "a kernel needs one library, and another is named before; declare two kernels");
            }
        }
    }
}

/// Whether a word before a path of `cuda_call` names a library.
fn is_library(word: &Ident) -> bool {
    word == "cublas" || word == "cudnn"
}

/// A reduction in blocks has one input, and one output.
fn blocks(codelet: &Codelet, errors: &mut Errors) {
    let Some(elements) = &codelet.options.blocks else { return };
    let modes = codelet.parameters.iter().map(|parameter| parameter.access);
    let is_reduction = matches!(modes.collect::<Vec<_>>()[..], [Access::Read, Access::Reduce(_)]);
    if !is_reduction || codelet.form == Form::Map {
        errors.at(elements, "`blocks` is the order of a kernel with one input of mode `R` and one output of mode `REDUX`; remove it");
    }
}

/// Rows are those of a kernel whose outputs come after its inputs, and whole arrays are read.
fn rows(codelet: &Codelet, errors: &mut Errors) {
    let Some(rows) = &codelet.options.rows else { return };
    let modes: Vec<_> = codelet.parameters.iter().map(|parameter| parameter.access).collect();
    let inputs = modes.iter().take_while(|access| **access == Access::Read).count();
    let makes = match &modes[inputs..] {
        [Access::Reduce(_)] => true,
        outputs => !outputs.is_empty() && outputs.iter().all(|access| *access == Access::Write),
    };
    if codelet.form == Form::Map {
        errors.at(&rows.axes, "each element of a map is computed apart from the others; remove `rows`");
    } else if !makes {
        errors.at(&rows.axes, "`rows` says how the arrays of a kernel are cut that reads some, of mode `R`, and then makes others, of mode `W`, or one of mode `REDUX`; remove it");
    }
    for name in &rows.whole {
        let parameter = codelet.parameters.iter().find(|parameter| parameter.name == *name);
        if parameter.is_none_or(|parameter| parameter.access != Access::Read) {
            errors.at(name, format!("`{name}` is not an array of `{}` with mode `R`", codelet.name));
        }
    }
}

/// A kernel that only moves elements has one input and one output.
fn moves(codelet: &Codelet, errors: &mut Errors) {
    let Some(from) = &codelet.options.moves else { return };
    let modes = codelet.parameters.iter().map(|parameter| parameter.access);
    let is_move = matches!(modes.collect::<Vec<_>>()[..], [Access::Read, Access::Write]);
    if !is_move || codelet.form == Form::Map {
        errors.at(from, "`moves` says from where a kernel moves the elements of its one input, of mode `R`, to its one output, of mode `W`; remove it");
    }
}

/// A map is parallel by itself, and a kernel in C is not.
fn parallel(codelet: &Codelet, errors: &mut Errors) {
    let Some(path) = &codelet.options.parallel_kernel else { return };
    if codelet.form == Form::Map {
        errors.at(
            path,
            "the loop of a map is generated, and several cores share it without a word; remove `parallel`",
        );
    } else if is_c_kernel(path) {
        errors.at(path, C_ALONE);
    }
}

/// Why a kernel in C is not parallel.
const C_ALONE: &str = "a kernel in C runs on one core: the workers' threads are rayon's, which it cannot reach; write the parallel loop in Rust, and call C in it";

/// Checks the words of further kernels, and their names, by which kernels are chosen.
fn kernels(codelet: &Codelet, errors: &mut Errors) {
    let mut names = vec!["rust".to_owned(), "cuda".to_owned()];
    let mut take = |path: &Path, errors: &mut Errors| {
        let name = kernel_name(path);
        if names.contains(&name) {
            errors.at(path, format!("another kernel of `{}` is called `{name}`, and `.kernel(\"{name}\")` could mean both; rename one", codelet.name));
        }
        names.push(name);
    };
    for kernel in &codelet.options.cpu {
        for (index, word) in kernel.words.iter().enumerate() {
            if word != "parallel" && word != "equal" {
                errors.at(word, format!("`{word}` is not said of a kernel; `parallel` and `equal` are"));
            } else if kernel.words[..index].contains(word) {
                errors.at(word, format!("`{word}` is said twice; keep one"));
            }
        }
        if let (Some(word), true) = (kernel.word("parallel"), is_c_kernel(&kernel.path)) {
            errors.at(word, C_ALONE);
        }
        take(&kernel.path, errors);
    }
    codelet.options.cuda_call.iter().for_each(|call| take(&call.path, errors));
}

fn shapes(codelet: &Codelet, errors: &mut Errors) {
    let mut seen: Vec<&Ident> = Vec::new();
    for shape in &codelet.options.shapes {
        let name = &shape.name;
        if seen.contains(&name) {
            errors.at(name, format!("the shape of `{name}` is given twice; keep one"));
        }
        seen.push(name);
        let Some(parameter) = codelet.parameters.iter().find(|parameter| parameter.name == *name) else {
            errors.at(
                name,
                format!("`{name}` is not a data parameter of `{}`; {}", codelet.name, parameters(codelet)),
            );
            continue;
        };
        if codelet.form == Form::Map {
            let message = if parameter.access == Access::Read {
                format!(
                    "`{name}` is an input, whose shape is the caller's; require one with `check({name}.shape() == ..)`"
                )
            } else {
                format!("a map's output has the shape of its inputs; remove `shape({name} = ..)`")
            };
            errors.at(name, message);
            continue;
        }
        if parameter.access == Access::Read {
            errors.at(name, format!("`{name}` is an input, whose shape is the caller's; require one with `check({name}.shape() == ..)`"));
            continue;
        }
        if let (Rank::Fixed(axes), Expr::Array(literal)) = (parameter.rank, &shape.extents)
            && literal.elems.len() != axes
        {
            let count = literal.elems.len();
            errors.at(
                literal,
                format!(
                    "`{name}` is an array of rank {axes} and this is a shape of rank {count}; make them equal"
                ),
            );
        }
        let text = shape.extents.to_token_stream();
        for (_, output) in codelet.made().filter(|(_, output)| tokens::mention(&text, &output.name)) {
            let output = &output.name;
            errors.at(&shape.extents, format!("the shape of `{name}` depends on `{output}`, an output that `_init` makes; compute it from the inputs"));
        }
    }
}

fn in_place(codelet: &Codelet, errors: &mut Errors) {
    let options = &codelet.options;
    if let (Form::Map, Some(kernel)) = (codelet.form, &options.in_place_kernel) {
        errors.at(kernel, "a map runs in place by itself; remove `in_place_kernel`");
    }
    let option: &dyn ToTokens = match (&options.in_place, &options.in_place_kernel) {
        (Some(target), _) => target,
        (None, Some(kernel)) => kernel,
        (None, None) => return,
    };
    let Some(output) = codelet.only_output() else {
        errors.at(option, "`_self` overwrites an input with the one output of mode `W`; here there is not exactly one output, or it has another mode");
        return;
    };
    let candidates = codelet.parameters.iter().filter(|parameter| codelet.can_hold(parameter, output));
    let candidates: Vec<_> = candidates.map(|parameter| format!("`{}`", parameter.name)).collect();
    let remedy = match candidates.as_slice() {
        [] => "no input is".to_owned(),
        [one] => format!("{one} is"),
        several => format!("{} are", several.join(", ")),
    };
    let output = &codelet.parameters[output].name;
    let wanted = format!(
        "`_self` overwrites an input of mode `R` with the element type and the rank of `{output}`: {remedy}"
    );
    match &options.in_place {
        Some(target) => match codelet.parameters.iter().find(|parameter| parameter.name == *target) {
            None => errors.at(
                target,
                format!("`{target}` is not a data parameter of `{}`; {}", codelet.name, parameters(codelet)),
            ),
            Some(_) if codelet.in_place.is_none() => {
                errors.at(target, format!("`{target}` cannot be overwritten; {wanted}"))
            }
            Some(_) => {}
        },
        None if codelet.in_place.is_none() => errors.at(option, wanted),
        None => {}
    }
}

/// "these are: `x`, `y`".
fn parameters(codelet: &Codelet) -> String {
    let names: Vec<_> = codelet.parameters.iter().map(|parameter| format!("`{}`", parameter.name)).collect();
    if names.is_empty() { "it has none".to_owned() } else { format!("these are: {}", names.join(", ")) }
}
