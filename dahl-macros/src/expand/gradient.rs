//! The gradient: the data that a tape gets, the struct that a rule gets, and the trait that says that there is one.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{GenericParam, Generics, Lifetime, Path};

use super::local;
use crate::gradient_rule::GradientRule;
use crate::model::{Codelet, Parameter, type_name};
use crate::rule_fields::{by_name, gradient_name, unmentioned};

/// `gradient()`: the data that a tape gets, with the table of derived maps. Without a gradient no tape takes the codelet.
pub(super) fn gradient(codelet: &Codelet, derived: &TokenStream) -> Option<TokenStream> {
    let rule = codelet.gradient.as_ref()?;
    let Codelet { root, visibility, .. } = codelet;
    let private = quote!(#root::__private);
    let called = match rule {
        GradientRule::Data(path) => {
            let turbofish = codelet.turbofish(false);
            Some(quote_spanned!(path.span()=> #path #turbofish()))
        }
        GradientRule::Nothing => Some(quote!(#private::Gradient::nothing())),
        GradientRule::Zero => Some(quote!(#private::Gradient::zero())),
        GradientRule::Maps(_) | GradientRule::Adjoint(_) | GradientRule::Function { .. } => None,
    };
    if let Some(called) = called {
        let declared = codelet.declared_generics(None, false);
        let bounds = &codelet.generics.where_clause;
        return Some(quote! {
            /// What a tape knows of the gradient.
            #[doc(hidden)]
            #visibility fn gradient #declared() -> &'static #private::Gradient #bounds {
                #called
            }
        });
    }
    let generics = codelet.with_real_bound();
    let ranked = rule.is_ranked() && codelet.has_shared_rank();
    let declared = codelet.generics_of(&generics, ranked);
    let bounds = &generics.where_clause;
    let bits = |holds: &dyn Fn(usize, &Parameter) -> bool| {
        let parameters = codelet.parameters.iter().enumerate();
        let bits = parameters.filter(|(index, parameter)| holds(*index, parameter));
        Literal::u64_unsuffixed(bits.fold(0, |bits, (index, _)| bits | 1 << index))
    };
    let inputs = bits(&|_, parameter| codelet.is_differentiated(parameter));
    let outputs = bits(&|_, parameter| codelet.has_gradient(parameter));
    let reads = bits(&|index, parameter| rule.reads(index, parameter));
    let expanded = match rule {
        GradientRule::Nothing | GradientRule::Zero | GradientRule::Data(_) => return None,
        GradientRule::Adjoint(path) => {
            let ty = type_of(path);
            let turbofish = codelet.turbofish(false);
            quote_spanned! {path.span()=>
                #private::Rule::Adjoint(|| #private::Linear {
                    codelet: #ty::codelet #turbofish(),
                    gradient: #ty::gradient #turbofish(),
                })
            }
        }
        GradientRule::Maps(_) => quote!(#private::Rule::Maps(#derived)),
        GradientRule::Function { path, .. } => {
            let call = call(codelet, path);
            quote!(#private::Rule::Function(#call))
        }
    };
    let value = quote! {
        const {
            &#private::Gradient {
                inputs: #inputs,
                outputs: #outputs,
                reads: #reads,
                rule: #expanded,
                addition: #root::__gradient::addition,
            }
        }
    };
    let made_real = codelet.element_made_real();
    let Some(element) = made_real else {
        return Some(quote! {
            /// What a tape knows of the gradient.
            #[doc(hidden)]
            #visibility fn gradient #declared() -> &'static #private::Gradient #bounds {
                #value
            }
        });
    };
    // Of an operation on any elements, only that on real numbers has a gradient.
    let outer = codelet.declared_generics(None, ranked);
    let outer_bounds = &codelet.generics.where_clause;
    let of_real = local("gradient_of_real");
    let types = [
        quote!(#root::f16),
        quote!(#root::bf16),
        quote!(::core::primitive::f32),
        quote!(::core::primitive::f64),
    ];
    let instances = types.iter().map(|real| {
        let arguments = codelet.generics.params.iter().map(|param| match param {
            GenericParam::Type(param) if param.ident == *element => quote!(#real),
            GenericParam::Type(param) => param.ident.to_token_stream(),
            GenericParam::Const(param) => param.ident.to_token_stream(),
            GenericParam::Lifetime(param) => param.lifetime.to_token_stream(),
        });
        let rank = ranked.then(|| codelet.shared_rank.to_token_stream());
        let arguments = arguments.chain(rank);
        quote!(Self::#of_real::<#(#arguments),*>)
    });
    Some(quote! {
        #[doc(hidden)]
        #visibility fn gradient #outer() -> &'static #private::Gradient #outer_bounds {
            #private::Gradient::of_real::<#element>([#(#instances),*])
        }

        fn #of_real #declared() -> &'static #private::Gradient #bounds {
            #value
        }
    })
}

/// The closure that calls a rule.
fn call(codelet: &Codelet, path: &Path) -> TokenStream {
    let root = &codelet.root;
    let (call, scope) = (local("call"), local("scope"));
    let struct_name = struct_name(codelet);
    let rule = codelet.gradient.as_ref().expect("the codelet has a rule");
    let mut lets = TokenStream::new();
    let mut fields = TokenStream::new();
    let mut ends = TokenStream::new();
    let outputs: Vec<_> = codelet.outputs_with_gradient().collect();
    for (index, output) in &outputs {
        let (name, number) = (gradient_name(codelet, output), Literal::usize_unsuffixed(*index));
        let (element, rank) = (&output.element, codelet.rank(output));
        let value = local(&format!("gradient_{index}"));
        let found = quote!(#call.gradient::<#element, #rank>(#number));
        if outputs.len() == 1 {
            lets.extend(quote! {
                let ::core::option::Option::Some(#value) = #found else {
                    return ::core::result::Result::Ok(());
                };
            });
            fields.extend(quote!(#name: &#value,));
        } else {
            lets.extend(quote!(let #value = #found;));
            fields.extend(quote!(#name: #value.as_ref(),));
        }
    }
    for (index, parameter) in codelet.parameters.iter().enumerate() {
        let (name, number) = (&parameter.name, Literal::usize_unsuffixed(index));
        let (element, rank) = (&parameter.element, codelet.rank(parameter));
        if rule.reads(index, parameter) {
            let value = local(&format!("array_{index}"));
            lets.extend(quote!(let #value = #call.saved::<#element, #rank>(#number);));
            fields.extend(quote!(#name: &#value,));
        }
        if codelet.is_differentiated(parameter) {
            let (value, by) = (local(&format!("by_{index}")), by_name(parameter));
            lets.extend(quote!(let mut #value = #call.by::<#element, #rank>(#number)?;));
            fields.extend(quote!(#by: #value.lend(),));
            ends.extend(quote!(#call.add(#number, #value)?;));
        }
    }
    for (index, argument) in codelet.arguments.iter().enumerate() {
        let (name, ty, value) = (&argument.name, &argument.ty, local(&format!("argument_{index}")));
        lets.extend(quote!(let #value = #call.argument::<#ty>();));
        fields.extend(quote!(#name: #value,));
    }
    if !unmentioned(codelet).is_empty() {
        fields.extend(quote!(types: ::core::marker::PhantomData,));
    }
    let arguments = codelet.turbofish(true);
    let rule = local("rule");
    let coerced =
        quote_spanned!(path.span()=> let #rule: fn(#struct_name #arguments) -> #root::Result<()> = #path;);
    quote! {
        |#call| {
            #lets
            let #scope = #call.scope();
            #coerced
            #rule(#struct_name #arguments { #fields scope: &#scope })?;
            #ends
            ::core::result::Result::Ok(())
        }
    }
}

/// The struct that a rule gets, if there is a rule.
pub(super) fn rule_struct(codelet: &Codelet) -> Option<TokenStream> {
    let Some(GradientRule::Function { .. }) = codelet.gradient else { return None };
    let rule = codelet.gradient.as_ref()?;
    let Codelet { root, visibility, .. } = codelet;
    let lifetime = codelet.lifetime("r");
    let generics = codelet.with_real_bound();
    let declared = codelet.generics_with(&generics, Some(&lifetime), true);
    let bounds = &generics.where_clause;
    let array = |parameter: &Parameter| codelet.array(parameter, &lifetime);
    let mut fields = TokenStream::new();
    for (index, parameter) in codelet.parameters.iter().enumerate() {
        let (name, ty) = (&parameter.name, array(parameter));
        if rule.reads(index, parameter) {
            let docs = format!(" The array `{}`.", name.unraw());
            fields.extend(quote!(#[doc = #docs] #visibility #name: &#lifetime #ty,));
        }
    }
    let outputs: Vec<_> = codelet.outputs_with_gradient().collect();
    for (_, output) in &outputs {
        let (name, ty) = (gradient_name(codelet, output), array(output));
        let docs = format!(" The gradient by `{}`.", output.name.unraw());
        let ty = quote!(&#lifetime #ty);
        let ty = if outputs.len() == 1 { ty } else { quote!(::core::option::Option<#ty>) };
        fields.extend(quote!(#[doc = #docs] #visibility #name: #ty,));
    }
    for parameter in codelet.parameters.iter().filter(|parameter| codelet.is_differentiated(parameter)) {
        let (name, ty) = (by_name(parameter), array(parameter));
        let docs =
            format!(" Where to put the gradient by `{}`, if somebody wants it.", parameter.name.unraw());
        fields.extend(quote!(#[doc = #docs] #visibility #name: ::core::option::Option<&#lifetime mut #ty>,));
    }
    for argument in &codelet.arguments {
        let (name, ty) = (&argument.name, &argument.ty);
        let docs = format!(" The argument `{}`.", name.unraw());
        fields.extend(quote!(#[doc = #docs] #visibility #name: #ty,));
    }
    let unmentioned = unmentioned(codelet);
    if !unmentioned.is_empty() {
        fields.extend(quote! {
            /// The types that no field mentions.
            #visibility types: ::core::marker::PhantomData<fn() -> (#(#unmentioned,)*)>,
        });
    }
    let name = struct_name(codelet);
    let docs = format!(" What the gradient of [`{}`] reads and writes.", codelet.name.unraw());
    Some(quote! {
        #[doc = #docs]
        #[allow(dead_code)]
        #visibility struct #name #declared #bounds {
            #fields
            /// Where to make arrays.
            #visibility scope: &#lifetime #root::RuleScope<#lifetime>,
        }
    })
}

/// `Differentiable`, if there is a gradient.
pub(super) fn differentiable(codelet: &Codelet) -> Option<TokenStream> {
    codelet.gradient.as_ref()?;
    let Codelet { root, type_name, .. } = codelet;
    Some(quote!(impl #root::Differentiable for #type_name {}))
}

/// The function that gives the gradient, for `_init`.
pub(super) fn path(codelet: &Codelet) -> TokenStream {
    let Codelet { root, type_name, .. } = codelet;
    match &codelet.gradient {
        Some(rule) => {
            let turbofish = codelet.turbofish(rule.is_ranked());
            quote!(#type_name::gradient #turbofish)
        }
        None => quote!(#root::__private::no_gradient),
    }
}

/// `MatmulGradient`.
fn struct_name(codelet: &Codelet) -> Ident {
    format_ident!("{}Gradient", codelet.type_name)
}

/// The type of the codelet that a function's path names.
fn type_of(path: &Path) -> Path {
    let mut path = path.clone();
    let is_in_scope = path.leading_colon.is_none() && path.segments.len() == 1;
    if let Some(last) = path.segments.last_mut() {
        last.ident = if is_in_scope { type_name(&last.ident) } else { super::alias_of(&last.ident) };
    }
    path
}

impl Codelet {
    fn generics_of(&self, generics: &Generics, with_rank: bool) -> TokenStream {
        self.generics_with(generics, None, with_rank)
    }

    fn generics_with(
        &self,
        generics: &Generics,
        lifetime: Option<&Lifetime>,
        with_rank: bool,
    ) -> TokenStream {
        let rank = &self.shared_rank;
        let rank = (with_rank && self.has_shared_rank()).then(|| quote!(const #rank: usize));
        let lifetime = lifetime.map(ToTokens::to_token_stream);
        let all =
            lifetime.into_iter().chain(generics.params.iter().map(ToTokens::to_token_stream)).chain(rank);
        let all: Vec<_> = all.collect();
        if all.is_empty() { TokenStream::new() } else { quote!(<#(#all),*>) }
    }
}
