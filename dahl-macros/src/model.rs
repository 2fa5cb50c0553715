//! [`Codelet`]: a declaration after all decisions: its form, the role of each parameter, the variants.
//!
//! Errors are collected on the way and leave placeholders (an unknown type, a missing rank), so that the model is
//! complete enough for stubs. `check` has the rules between the parts.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::ext::IdentExt;
use syn::{
    Expr, FnArg, GenericParam, Generics, ItemFn, Pat, Path, ReturnType, Type, Visibility, parse_quote,
};

use crate::attributes::Attributes;
use crate::errors::Errors;
use crate::gradient_rule::GradientRule;
use crate::mode::{Access, Combination, Mode};
use crate::parse::{Declaration, Options};
use crate::tokens;
use crate::view::{self, Layout, View};

/// The model of a codelet.
pub(crate) struct Codelet {
    /// The function's name, and the base of the wrappers' names.
    pub(crate) name: Ident,
    /// The name of the codelet's type: `SoftmaxRows` for `softmax_rows`.
    pub(crate) type_name: Ident,
    /// The path of the crate `dahl`.
    pub(crate) root: Path,
    pub(crate) visibility: Visibility,
    pub(crate) attributes: Attributes,
    /// The user's type and constant parameters, and where clause.
    pub(crate) generics: Generics,
    pub(crate) form: Form,
    /// The data parameters in the order of the modes; in map form the last one is the return value, `out`.
    pub(crate) parameters: Vec<Parameter>,
    /// The plain arguments.
    pub(crate) arguments: Vec<Argument>,
    pub(crate) in_place: Option<InPlace>,
    /// Whether the shapes of all outputs are known, so that `_init` can create them.
    pub(crate) has_init: bool,
    /// How its gradient is computed; without, no tape takes it.
    pub(crate) gradient: Option<GradientRule>,
    /// Whether it is the derived map of another one.
    pub(crate) is_derived: bool,
    /// The rank that all parameters without a fixed rank share.
    pub(crate) shared_rank: Ident,
    pub(crate) options: Options,
    pub(crate) function: ItemFn,
    pub(crate) modes: Vec<Mode>,
    /// All tokens of the declaration, to avoid their names.
    pub(crate) tokens: TokenStream,
    pub(crate) hash: u64,
}

/// The two forms of a declaration.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Scalars in, scalar out.
    Map,
    /// Views in, views out.
    Kernel,
}

/// A data parameter.
pub(crate) struct Parameter {
    pub(crate) name: Ident,
    pub(crate) access: Access,
    pub(crate) kind: Kind,
    /// The element type of the array.
    pub(crate) element: Type,
    /// Whether a `REDUX` kernel sees `T::Compute` for an array of `T`.
    pub(crate) accumulates_in_compute: bool,
    /// For a `REDUX` by a codelet of the user's.
    pub(crate) combination: Option<Combination>,
    pub(crate) rank: Rank,
    /// Its extents, if the declaration gives them.
    pub(crate) shape: Option<Expr>,
}

/// What the kernel receives for a data parameter.
pub(crate) enum Kind {
    /// In map form: one element at a time.
    Scalar,
    View(Box<View>),
    /// Unknown, since an error was reported about it.
    Unknown,
}

/// The rank of a data parameter's array.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rank {
    Fixed(usize),
    /// The rank that all parameters without a fixed rank share.
    Shared,
}

/// A plain argument.
pub(crate) struct Argument {
    pub(crate) name: Ident,
    pub(crate) ty: Type,
}

/// How `_self` works.
pub(crate) struct InPlace {
    /// Index of the parameter that is overwritten.
    pub(crate) target: usize,
    /// Index of the output that it replaces.
    pub(crate) output: usize,
}

impl Codelet {
    /// Determines the meaning of a declaration.
    pub(crate) fn new(declaration: Declaration, errors: &mut Errors) -> Self {
        let mut codelet = Self::of(declaration, errors);
        codelet.gradient = GradientRule::of(&codelet);
        codelet
    }

    /// Determines the meaning of a declaration, without its gradient.
    pub(crate) fn of(declaration: Declaration, errors: &mut Errors) -> Self {
        let Declaration { modes, options, function, attribute } = declaration;
        let name = function.sig.ident.clone();
        let signature = function.sig.to_token_stream();
        let inputs = named_inputs(&function, errors);
        let form = form(&function, &inputs);
        let data_inputs = if form == Form::Map { modes.len().saturating_sub(1) } else { modes.len() };
        for mode in modes.iter().take(data_inputs).skip(inputs.len()) {
            let remedy = if form == Form::Map { "; the last mode is the return value's" } else { "" };
            errors.at(
                &mode.tokens,
                format!(
                    "this `{}` has no parameter: `{name}` has {}{remedy}",
                    mode.access,
                    counted(inputs.len())
                ),
            );
        }
        let (data, plain) = inputs.split_at(data_inputs.min(inputs.len()));
        let mut parameters: Vec<_> = data
            .iter()
            .zip(&modes)
            .map(|((name, ty), mode)| match form {
                Form::Map => Parameter::scalar(name.clone(), mode.access, ty),
                Form::Kernel => Parameter::view(name, mode, ty, &function.sig.generics, errors),
            })
            .collect();
        if let (Form::Map, Some(mode), ReturnType::Type(_, ty)) = (form, modes.last(), &function.sig.output) {
            parameters.push(Parameter::scalar(Ident::new("out", Span::call_site()), mode.access, ty));
        }
        for parameter in &mut parameters {
            parameter.set_shape(&options);
        }
        let arguments =
            plain.iter().map(|(name, ty)| Argument { name: name.clone(), ty: ty.clone() }).collect();
        let block = &function.block;
        let hash = tokens::hash(&quote!(#attribute #signature #block));
        let type_name = type_name(&name);
        let tokens = quote!(#attribute #signature #type_name);
        let mut codelet = Self {
            type_name,
            root: options.root.clone().unwrap_or_else(|| parse_quote!(::dahl)),
            visibility: function.vis.clone(),
            attributes: Attributes::sort(&function.attrs),
            generics: without_lifetimes(&function.sig.generics),
            form,
            parameters,
            arguments,
            in_place: None,
            has_init: false,
            gradient: None,
            is_derived: false,
            shared_rank: tokens::fresh("N", &tokens),
            options,
            modes,
            tokens,
            hash,
            name,
            function,
        };
        codelet.in_place = codelet.decide_in_place();
        codelet.has_init = codelet.decide_init();
        codelet
    }

    /// The data parameters that `_init` creates, with their indices.
    pub(crate) fn made(&self) -> impl Iterator<Item = (usize, &Parameter)> {
        self.parameters.iter().enumerate().filter(|(_, parameter)| parameter.access.is_made())
    }

    /// The only `W` output, if no other parameter is `RW`, `REDUX` or `COMMUTE`: the condition for `_self`.
    pub(crate) fn only_output(&self) -> Option<usize> {
        let mut changed = self
            .parameters
            .iter()
            .enumerate()
            .filter(|(_, p)| !matches!(p.access, Access::Read | Access::Scratch));
        let (index, output) = changed.next()?;
        (output.access == Access::Write && changed.next().is_none()).then_some(index)
    }

    /// Whether `parameter` can be overwritten with the output of index `output`.
    pub(crate) fn can_hold(&self, parameter: &Parameter, output: usize) -> bool {
        let output = &self.parameters[output];
        parameter.access == Access::Read
            && parameter.rank == output.rank
            && parameter.element.to_token_stream().to_string() == output.element.to_token_stream().to_string()
    }

    fn decide_in_place(&self) -> Option<InPlace> {
        let output = self.only_output()?;
        let chosen =
            |parameter: &Parameter| self.options.in_place.as_ref().is_none_or(|name| parameter.name == *name);
        let target = self
            .parameters
            .iter()
            .position(|parameter| chosen(parameter) && self.can_hold(parameter, output))?;
        Some(InPlace { target, output })
    }

    /// The element type for which it can combine partial results: its kernel takes two parameters as contiguous arrays
    /// of any length, changes the first in place, and reads the second.
    pub(crate) fn combines(&self) -> Option<&Type> {
        let accesses: Vec<_> = self.parameters.iter().map(|parameter| parameter.access).collect();
        let is_in_place = match accesses.as_slice() {
            [Access::ReadWrite, Access::Read] => true,
            [Access::Read, Access::Read, Access::Write] => {
                let has_kernel = self.form == Form::Map || self.options.in_place_kernel.is_some();
                has_kernel && matches!(self.in_place, Some(InPlace { target: 0, .. }))
            }
            _ => false,
        };
        let element = &self.parameters.first()?.element;
        let text = element.to_token_stream().to_string();
        let fits = |parameter: &Parameter| {
            matches!(parameter.rank, Rank::Shared | Rank::Fixed(1))
                && parameter.element.to_token_stream().to_string() == text
        };
        // The element type determines the only type parameter.
        let is_known = match self.generics.params.iter().collect::<Vec<_>>().as_slice() {
            [] => true,
            [GenericParam::Type(parameter)] => parameter.ident == text,
            _ => false,
        };
        (is_in_place && is_known && self.arguments.is_empty() && self.parameters.iter().all(fits))
            .then_some(element)
    }

    fn decide_init(&self) -> bool {
        let has_input = self.parameters.iter().any(|parameter| parameter.access == Access::Read);
        let known = |parameter: &Parameter| match self.form {
            Form::Map => has_input,
            Form::Kernel => parameter.shape.is_some() || parameter.rank == Rank::Fixed(0),
        };
        self.made().count() > 0 && self.made().all(|(_, parameter)| known(parameter))
    }
}

impl Parameter {
    fn scalar(name: Ident, access: Access, ty: &Type) -> Self {
        Self {
            name,
            access,
            kind: Kind::Scalar,
            element: ty.clone(),
            accumulates_in_compute: false,
            combination: None,
            rank: Rank::Shared,
            shape: None,
        }
    }

    fn view(name: &Ident, mode: &Mode, ty: &Type, generics: &Generics, errors: &mut Errors) -> Self {
        let access = mode.access;
        let view = View::of(ty);
        if view.is_none() {
            errors.at(
                ty,
                format!("`{name}` has the mode `{access}`, but its type is not a view; {}", view::KNOWN),
            );
        }
        let rank = match view.as_ref().map(|view| view.layout) {
            Some(Layout::Axes(axes)) => Rank::Fixed(axes),
            _ => Rank::Shared,
        };
        let element = view.as_ref().map_or_else(|| ty.clone(), |view| view.element.clone());
        let stored = stored_type(&element, generics);
        Self {
            name: name.clone(),
            access,
            kind: view.map_or(Kind::Unknown, |view| Kind::View(Box::new(view))),
            accumulates_in_compute: stored.is_some(),
            combination: mode.combination.clone(),
            element: stored.unwrap_or(element),
            rank,
            shape: None,
        }
    }

    /// Takes the extents from `shape(..)`. An array literal fixes the rank of a view that has none.
    fn set_shape(&mut self, options: &Options) {
        self.shape =
            options.shapes.iter().find(|shape| shape.name == self.name).map(|shape| shape.extents.clone());
        if let (Rank::Shared, Kind::View(_), Some(Expr::Array(literal))) =
            (self.rank, &self.kind, &self.shape)
        {
            self.rank = Rank::Fixed(literal.elems.len());
        }
    }

    /// The element type that the kernel sees: `T::Compute` for a reduction of `T` that accumulates in it.
    pub(crate) fn kernel_element(&self) -> &Type {
        match &self.kind {
            Kind::View(view) => &view.element,
            Kind::Scalar | Kind::Unknown => &self.element,
        }
    }

    /// Whether it is an array of the wrapper: all but `SCRATCH` are.
    pub(crate) fn is_given(&self) -> bool {
        self.access != Access::Scratch
    }
}

/// The parameters of the function that have a name.
fn named_inputs(function: &ItemFn, errors: &mut Errors) -> Vec<(Ident, Type)> {
    let mut inputs = Vec::new();
    for input in &function.sig.inputs {
        match input {
            FnArg::Typed(typed) => match &*typed.pat {
                Pat::Ident(pattern) if pattern.subpat.is_none() && pattern.by_ref.is_none() => {
                    inputs.push((pattern.ident.clone(), (*typed.ty).clone()));
                }
                pattern => {
                    errors.at(pattern, "a parameter of a codelet needs a name, which errors and options use; take it apart in the body");
                    inputs.push((format_ident!("_{}", inputs.len()), (*typed.ty).clone()));
                }
            },
            FnArg::Receiver(receiver) => {
                errors.at(receiver, "a codelet is a function, not a method; move it out of the `impl`")
            }
        }
    }
    inputs
}

/// Kernel form if any parameter is a view or nothing is returned; otherwise map form.
fn form(function: &ItemFn, inputs: &[(Ident, Type)]) -> Form {
    let returns = match &function.sig.output {
        ReturnType::Default => false,
        ReturnType::Type(_, ty) => !matches!(&**ty, Type::Tuple(tuple) if tuple.elems.is_empty()),
    };
    if returns && !inputs.iter().any(|(_, ty)| View::of(ty).is_some()) { Form::Map } else { Form::Kernel }
}

/// `T`, if `element` is `T::Compute` or `<T as Real>::Compute` of a type parameter `T`.
fn stored_type(element: &Type, generics: &Generics) -> Option<Type> {
    let Type::Path(path) = element else { return None };
    if path.path.segments.last()?.ident != "Compute" || path.path.segments.len() < 2 {
        return None;
    }
    if let Some(qself) = &path.qself {
        return Some((*qself.ty).clone());
    }
    let first = &path.path.segments.first()?.ident;
    let is_parameter = generics.type_params().any(|parameter| parameter.ident == *first);
    is_parameter.then(|| parse_quote!(#first))
}

fn without_lifetimes(generics: &Generics) -> Generics {
    let mut generics = generics.clone();
    let written = std::mem::take(&mut generics.params);
    generics.params =
        written.into_iter().filter(|param| !matches!(param, GenericParam::Lifetime(_))).collect();
    generics
}

/// The name of the type of a codelet: `softmax_rows` -> `SoftmaxRows`.
pub(crate) fn type_name(function: &Ident) -> Ident {
    format_ident!("{}", pascal_case(&function.unraw().to_string()), span = function.span())
}

fn pascal_case(name: &str) -> String {
    let capitalised = |word: &str| {
        let mut letters = word.chars();
        letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect::<String>()
    };
    name.split('_').map(capitalised).collect()
}

/// "no parameters", "1 parameter", "2 parameters".
fn counted(parameters: usize) -> String {
    match parameters {
        0 => "no parameters".into(),
        1 => "1 parameter".into(),
        more => format!("{more} parameters"),
    }
}
