//! [`Signature`]: the parameters of a map and their form in CUDA.

use syn::{
    ExprPath, FnArg, GenericParam, ItemFn, Pat, Path, ReturnType, Type, TypeParamBound, WherePredicate,
};

use super::Refusal;
use super::kind::Kind;
use crate::stored::Stored;

/// The type of an array's elements, or of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// A type parameter, by its index.
    Parameter(usize),
    /// A type that is not a parameter.
    Fixed(Stored),
}

/// A type parameter.
#[derive(Debug)]
pub(super) struct TypeParameter {
    pub(super) name: String,
    /// Whether it is bounded by `Real`.
    pub(super) is_real: bool,
}

/// A parameter of the function.
#[derive(Debug)]
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) element: Element,
    /// The kind of its value in the body.
    pub(super) kind: Kind,
}

/// The parameters and the result of a map.
#[derive(Debug)]
pub(super) struct Signature {
    pub(super) name: String,
    pub(super) types: Vec<TypeParameter>,
    pub(super) inputs: Vec<Parameter>,
    pub(super) arguments: Vec<Parameter>,
    pub(super) output: Parameter,
    /// The names in CUDA of the compute types of type parameters.
    pub(super) compute: Vec<String>,
}

impl Signature {
    pub(super) fn of(function: &ItemFn, inputs: usize) -> Result<Self, Refusal> {
        let mut types = Vec::new();
        for parameter in &function.sig.generics.params {
            match parameter {
                GenericParam::Type(parameter) => {
                    let bounds = bounds(function, parameter);
                    let is = |name: &str| bounds.iter().any(|bound| is_trait(bound, name));
                    if !is("Real") && !is("Element") {
                        let message = format!(
                            "the type parameter `{}` is bounded neither by `Real` nor by `Element`",
                            parameter.ident
                        );
                        return Err(Refusal::new(parameter, message));
                    }
                    types.push(TypeParameter { name: parameter.ident.to_string(), is_real: is("Real") });
                }
                other => return Err(Refusal::new(other, "a kernel in CUDA has type parameters only")),
            }
        }
        let compute = types.iter().map(|parameter| match (parameter.is_real, types.len()) {
            (false, _) => parameter.name.clone(),
            (true, 1) => "C".to_owned(),
            (true, _) => format!("C_{}", parameter.name),
        });
        let compute = compute.collect();
        let mut parameters = Vec::new();
        for input in &function.sig.inputs {
            let FnArg::Typed(input) = input else { return Err(Refusal::new(input, "a map has no `self`")) };
            let Pat::Ident(name) = &*input.pat else {
                return Err(Refusal::new(&input.pat, "a parameter of a map has a name"));
            };
            parameters.push(Parameter::new(name.ident.to_string(), &input.ty, &types)?);
        }
        let ReturnType::Type(_, output) = &function.sig.output else {
            return Err(Refusal::new(&function.sig.ident, "a map returns a value"));
        };
        let output = Parameter::new("out".to_owned(), output, &types)?;
        if parameters.len() < inputs {
            return Err(Refusal::new(&function.sig.ident, "the map has fewer parameters than modes"));
        }
        let arguments = parameters.split_off(inputs);
        let is_array = |parameter: &&Parameter| {
            let of_arguments = [Stored::BOOL, Stored::USIZE, Stored::ISIZE];
            of_arguments.into_iter().any(|stored| parameter.element == Element::Fixed(stored))
        };
        if parameters.iter().chain([&output]).find(is_array).is_some() {
            return Err(Refusal::new(&function.sig.ident, "arrays hold no `bool`, `usize` or `isize`"));
        }
        let name = function.sig.ident.to_string();
        let name = name.trim_start_matches("r#").to_owned();
        Ok(Self { name, types, inputs: parameters, arguments, output, compute })
    }
}

impl Parameter {
    fn new(name: String, ty: &Type, types: &[TypeParameter]) -> Result<Self, Refusal> {
        let unknown = || {
            Refusal::new(
                ty,
                "its type is neither a type parameter nor a number; kernels in CUDA take those by value",
            )
        };
        let last = match ty {
            Type::Path(path) if path.qself.is_none() => path.path.segments.last().ok_or_else(unknown)?,
            Type::Group(group) => return Self::new(name, &group.elem, types),
            Type::Paren(paren) => return Self::new(name, &paren.elem, types),
            _ => return Err(unknown()),
        };
        let ident = last.ident.to_string();
        if let Some(index) = types.iter().position(|parameter| parameter.name == ident) {
            let kind = if types[index].is_real { Kind::Real(index) } else { Kind::Opaque(index) };
            return Ok(Self { name, element: Element::Parameter(index), kind });
        }
        let stored = Stored::named(&ident).ok_or_else(unknown)?;
        Ok(Self { name, element: Element::Fixed(stored), kind: Kind::of(stored) })
    }
}

impl Element {
    /// The type in CUDA as stored, with these names of the type parameters.
    pub(super) fn cuda<'a>(self, types: impl Fn(usize) -> &'a str) -> String {
        match self {
            Self::Parameter(index) => types(index).to_owned(),
            Self::Fixed(stored) => stored.cuda().to_owned(),
        }
    }

    /// Whether values are widened before they are passed to the body.
    pub(super) fn is_half(self) -> bool {
        matches!(self, Self::Fixed(Stored::F16 | Stored::BF16))
    }
}

fn bounds<'a>(function: &'a ItemFn, parameter: &'a syn::TypeParam) -> Vec<&'a TypeParamBound> {
    let clause = function.sig.generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    let in_clause = clause.filter_map(|predicate| match predicate {
        WherePredicate::Type(predicate)
            if matches!(&predicate.bounded_ty, Type::Path(path) if path.path.is_ident(&parameter.ident)) =>
        {
            Some(&predicate.bounds)
        }
        _ => None,
    });
    parameter.bounds.iter().chain(in_clause.flatten()).collect()
}

fn is_trait(bound: &TypeParamBound, name: &str) -> bool {
    matches!(bound, TypeParamBound::Trait(bound) if bound.path.segments.last().is_some_and(|last| last.ident == name))
}

impl Signature {
    /// The kind of a type in the body, if it is known.
    pub(super) fn kind_of(&self, ty: &Type) -> Option<Kind> {
        match ty {
            Type::Group(group) => self.kind_of(&group.elem),
            Type::Paren(paren) => self.kind_of(&paren.elem),
            // `T`, `T::Compute`, `<T as Real>::Compute`
            Type::Path(path) => match &path.qself {
                Some(owner) => self.kind_of(&owner.ty),
                None => self.kind_of_path(&path.path),
            },
            _ => None,
        }
    }

    fn kind_of_path(&self, path: &Path) -> Option<Kind> {
        let segments: Vec<_> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let names: Vec<_> = segments.iter().map(|name| &**name).collect();
        let first = match &*names {
            [name] | [name, "Compute"] => *name,
            ["std" | "core", "primitive", name] => *name,
            _ => return None,
        };
        if let Some(index) = self.types.iter().position(|parameter| parameter.name == first) {
            return Some(if self.types[index].is_real { Kind::Real(index) } else { Kind::Opaque(index) });
        }
        Kind::named(first)
    }

    /// The kind of the type that a path's last name belongs to: `T` of `T::ONE`, `f64` of `std::f64::consts::PI`.
    pub(super) fn kind_of_owner(&self, path: &ExprPath, is_of_consts: bool) -> Option<Kind> {
        if let Some(owner) = &path.qself {
            return self.kind_of(&owner.ty);
        }
        let mut owner = path.path.clone();
        owner.segments.pop()?;
        if is_of_consts && owner.segments.last()?.ident == "consts" {
            owner.segments.pop();
        }
        if owner.segments.first().is_some_and(|first| first.ident == "std" || first.ident == "core") {
            owner.segments = owner.segments.into_iter().skip(1).collect();
        }
        // Removing the last segment leaves `::` at the end.
        owner.segments.pop_punct();
        self.kind_of_path(&owner)
    }
}
