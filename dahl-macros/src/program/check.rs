//! Whether a function can be a program. All errors are reported together, each under the user's tokens.

use syn::visit::Visit;
use syn::{FnArg, Safety};

use super::model::Program;
use crate::errors::Errors;

/// The most parameters, without the scope.
const MOST: usize = 12;

pub(super) fn check(program: &Program, errors: &mut Errors) {
    let signature = &program.function.sig;
    let name = &signature.ident;
    if let Some(token) = &signature.asyncness {
        errors.at(token, format!("`{name}` is async; a program only submits tasks, and waits for nothing"));
    }
    if let Safety::Unsafe(token) = &signature.safety {
        errors.at(
            token,
            format!("`{name}` is unsafe; a program is called with arrays that the compiler checks"),
        );
    }
    if let Some(FnArg::Receiver(receiver)) = signature.inputs.first() {
        errors.at(
            receiver,
            format!("`{name}` is a method; a program is a function, whose arguments are all named"),
        );
        return;
    }
    match signature.inputs.first() {
        None => errors.at(
            name,
            format!("`{name}` has no scope; its first parameter is `scope: &'s Recording<'_>`, which its operations are called under"),
        ),
        Some(first) if program.scope.is_none() => errors.at(
            first,
            format!("the scope of `{name}` is a shared reference: `scope: &'s Recording<'_>`"),
        ),
        Some(_) => {}
    }
    if program.returned.is_none() {
        let message = format!(
            "`{name}` returns no `Result`; a program returns `dahl::Result<..>`, of `()` or of arrays"
        );
        match &signature.output {
            syn::ReturnType::Default => errors.at(name, message),
            syn::ReturnType::Type(_, ty) => errors.at(ty, message),
        }
    }
    if program.parameters.len() > MOST {
        errors.at(
            &program.parameters[MOST].pattern,
            format!("a program has at most {MOST} parameters besides its scope; put arrays into a tuple or a slice"),
        );
    }
    for parameter in &program.parameters {
        if parameter.name.is_none() {
            errors.at(
                &parameter.pattern,
                "a parameter of a program is a name, by which its graph calls the array",
            );
        }
        let mut finder = Types { errors };
        finder.visit_type(&parameter.ty);
    }
}

/// Finds `impl Trait`, which the struct could not name, and `'static`, for which no argument is lent.
struct Types<'e> {
    errors: &'e mut Errors,
}

impl<'ast> Visit<'ast> for Types<'_> {
    fn visit_lifetime(&mut self, lifetime: &'ast syn::Lifetime) {
        if lifetime.ident == "static" {
            self.errors
                .at(lifetime, "an argument is lent to a program for one call; leave the lifetime out: `'_`");
        }
    }

    fn visit_type_impl_trait(&mut self, ty: &'ast syn::TypeImplTrait) {
        self.errors.at(ty, "the struct of a program names its types; use a type parameter");
    }
}
