//! Rules for the function's signature: a codelet is a plain function, whose types follow from its arrays.

use quote::ToTokens;
use syn::{FnArg, GenericParam, Safety, Type};

use crate::errors::Errors;
use crate::model::Codelet;
use crate::tokens;

/// Reports what a kernel's signature may not contain.
pub(super) fn check(codelet: &Codelet, errors: &mut Errors) {
    let signature = &codelet.function.sig;
    let mut refuse = |tokens: &dyn ToTokens, what: &str, remedy: &str| {
        errors.at(tokens, format!("a codelet cannot be {what}; {remedy}"));
    };
    if let Some(constness) = &signature.constness {
        refuse(constness, "`const`", "its kernel runs on workers: remove it");
    }
    if let Some(asyncness) = &signature.asyncness {
        refuse(asyncness, "`async`", "its tasks run in the background anyway: remove it");
    }
    if let Safety::Unsafe(unsafety) = &signature.safety {
        refuse(
            unsafety,
            "`unsafe`",
            "workers call it on any arrays: keep `unsafe` blocks, with their reasons, in its body",
        );
    }
    if let Some(abi) = &signature.abi {
        refuse(abi, "`extern`", "kernels in C are named by the option `cpu = [..]`");
    }
    if let Some(variadic) = &signature.variadic {
        refuse(variadic, "variadic", "name its parameters");
    }
    lifetimes_and_generics(codelet, errors);
    for input in &signature.inputs {
        if let FnArg::Typed(input) = input
            && let Type::ImplTrait(ty) = &*input.ty
        {
            let name = input.pat.to_token_stream();
            errors.at(
                ty,
                format!(
                    "`{name}` has a type without a name; name it: `fn {}<T: Real>({name}: T)`",
                    codelet.name
                ),
            );
        }
    }
}

fn lifetimes_and_generics(codelet: &Codelet, errors: &mut Errors) {
    let signature = &codelet.function.sig;
    // The caller does not pass scratch arrays.
    let given = codelet.parameters.iter().filter(|parameter| parameter.is_given());
    let types = given.map(|parameter| parameter.element.to_token_stream());
    let types: proc_macro2::TokenStream =
        types.chain(codelet.arguments.iter().map(|argument| argument.ty.to_token_stream())).collect();
    for param in &signature.generics.params {
        match param {
            GenericParam::Lifetime(param) => {
                errors.at(
                    &param.lifetime,
                    format!(
                        "a view of a kernel lives as long as its task; leave the lifetime `{}` out",
                        param.lifetime
                    ),
                );
            }
            GenericParam::Type(param) if !tokens::mention(&types, &param.ident) => {
                let name = &param.ident;
                errors.at(name, format!("no array and no argument has the type `{name}`, so calls cannot infer it; use it in one, or remove it"));
            }
            GenericParam::Type(_) | GenericParam::Const(_) => {}
        }
    }
}
