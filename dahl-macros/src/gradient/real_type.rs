//! [`Types`]: the types of values in a map's body, where `f16` and `bf16` stand for their compute type.

use dahl_expression::Type;
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::{Expr, ExprPath, Generics, Path, TypeParamBound, WherePredicate};

/// A type of real numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RealType {
    /// A type parameter bounded by `Real`.
    Parameter(Ident),
    /// Its compute type.
    Compute(Ident),
    F32,
    F64,
}

/// A type, known from how it is written.
enum Known {
    Real(RealType),
    /// No real type.
    Plain(Type),
}

/// The real types that the type numbers of a graph stand for, and the type parameters.
pub(super) struct Types {
    reals: Vec<RealType>,
    parameters: Vec<(Ident, bool)>,
    constants: Vec<Ident>,
}

impl Types {
    pub(super) fn new(generics: &Generics) -> Self {
        let parameters = generics.type_params().map(|parameter| {
            let in_clause = generics.where_clause.iter().flat_map(|clause| &clause.predicates);
            let in_clause = in_clause.filter_map(|predicate| match predicate {
                WherePredicate::Type(predicate) => match &predicate.bounded_ty {
                    syn::Type::Path(path) if path.path.is_ident(&parameter.ident) => Some(&predicate.bounds),
                    _ => None,
                },
                _ => None,
            });
            let is_real = parameter.bounds.iter().chain(in_clause.flatten()).any(is_real);
            (parameter.ident.clone(), is_real)
        });
        let constants = generics.const_params().map(|parameter| parameter.ident.clone()).collect();
        Self { reals: Vec::new(), parameters: parameters.collect(), constants }
    }

    /// The type of values of a type as written; none if it is unknown.
    pub(super) fn of(&mut self, ty: &syn::Type) -> Option<Type> {
        let ty = self.resolved(ty)?;
        Some(self.number(ty))
    }

    /// The same, if it occurred before.
    pub(super) fn known(&self, ty: &syn::Type) -> Option<Type> {
        match self.resolved(ty)? {
            Known::Plain(ty) => Some(ty),
            Known::Real(real) => self.index(&real),
        }
    }

    fn number(&mut self, known: Known) -> Type {
        match known {
            Known::Plain(ty) => ty,
            Known::Real(real) => self.real(real),
        }
    }

    /// The type number of a real type.
    pub(super) fn real(&mut self, real: RealType) -> Type {
        if let Some(ty) = self.index(&real) {
            return ty;
        }
        self.reals.push(real);
        Type::Real(u8::try_from(self.reals.len() - 1).expect("few real types"))
    }

    fn index(&self, real: &RealType) -> Option<Type> {
        let index = self.reals.iter().position(|known| known == real)?;
        u8::try_from(index).ok().map(Type::Real)
    }

    /// The real type of a type number.
    pub(super) fn real_type(&self, ty: Type) -> Option<&RealType> {
        match ty {
            Type::Real(index) => self.reals.get(usize::from(index)),
            Type::Bool | Type::Other => None,
        }
    }

    /// The compute type of a real type.
    pub(super) fn compute(&mut self, ty: Type) -> Option<Type> {
        let compute = match self.real_type(ty)? {
            RealType::Parameter(name) => RealType::Compute(name.clone()),
            other => other.clone(),
        };
        Some(self.real(compute))
    }

    /// Whether a type as written is a type parameter.
    pub(super) fn is_parameter(&self, ty: &syn::Type) -> bool {
        let name = match ty {
            syn::Type::Group(group) => return self.is_parameter(&group.elem),
            syn::Type::Paren(paren) => return self.is_parameter(&paren.elem),
            syn::Type::Path(path) => path.path.get_ident(),
            _ => None,
        };
        name.is_some_and(|name| self.parameters.iter().any(|(known, _)| known == name))
    }

    /// Whether a name is a constant parameter.
    pub(super) fn is_constant(&self, name: &Ident) -> bool {
        self.constants.contains(name)
    }

    /// The type that a path's last name belongs to: `T` of `T::ONE`, `f64` of `std::f64::consts::PI`.
    pub(super) fn of_owner(&mut self, path: &ExprPath) -> Option<Type> {
        if let Some(owner) = &path.qself {
            return self.of(&owner.ty);
        }
        let mut owner = path.path.clone();
        owner.segments.pop()?;
        if owner.segments.last()?.ident == "consts" {
            owner.segments.pop();
        }
        owner.segments.pop_punct();
        let ty = self.of_path(&owner)?;
        Some(self.number(ty))
    }

    fn resolved(&self, ty: &syn::Type) -> Option<Known> {
        match ty {
            syn::Type::Group(group) => self.resolved(&group.elem),
            syn::Type::Paren(paren) => self.resolved(&paren.elem),
            syn::Type::Path(path) => match &path.qself {
                // `<T as Real>::Compute`.
                Some(owner) if path.path.segments.last()?.ident == "Compute" => {
                    Some(self.resolved(&owner.ty)?.computed())
                }
                Some(_) => None,
                None => self.of_path(&path.path),
            },
            _ => None,
        }
    }

    fn of_path(&self, path: &Path) -> Option<Known> {
        let last = &path.segments.last()?.ident;
        if path.segments.len() == 2 && last == "Compute" {
            return Some(self.of_name(&path.segments.first()?.ident)?.computed());
        }
        self.of_name(last)
    }

    fn of_name(&self, name: &Ident) -> Option<Known> {
        if let Some((_, is_real)) = self.parameters.iter().find(|(known, _)| known == name) {
            return Some(if *is_real {
                Known::Real(RealType::Parameter(name.clone()))
            } else {
                Known::Plain(Type::Other)
            });
        }
        Some(match &*name.to_string() {
            "f16" | "bf16" | "f32" => Known::Real(RealType::F32),
            "f64" => Known::Real(RealType::F64),
            "bool" => Known::Plain(Type::Bool),
            "u8" | "u16" | "u32" | "u64" | "u128" | "usize" | "i8" | "i16" | "i32" | "i64" | "i128"
            | "isize" => Known::Plain(Type::Other),
            _ => return None,
        })
    }
}

impl RealType {
    /// Whether functions on it are Rust's own, if they have the same name.
    pub(super) fn is_concrete(&self) -> bool {
        matches!(self, Self::F32 | Self::F64)
    }

    /// The type before `::`, with `real` as the path of the trait `Real`.
    pub(super) fn owner(&self, real: &TokenStream) -> TokenStream {
        match self {
            Self::Parameter(name) => quote!(#name),
            Self::Compute(name) => quote!(<#name::Compute as #real>),
            Self::F32 => quote!(<f32 as #real>),
            Self::F64 => quote!(<f64 as #real>),
        }
    }
}

impl Known {
    /// The compute type of a real type.
    fn computed(self) -> Self {
        match self {
            Self::Real(RealType::Parameter(name)) => Self::Real(RealType::Compute(name)),
            other => other,
        }
    }
}

fn is_real(bound: &TypeParamBound) -> bool {
    matches!(bound, TypeParamBound::Trait(bound) if bound.path.segments.last().is_some_and(|last| last.ident == "Real"))
}

/// Whether an expression in call position names a function of a trait, not one of a type: `Real::max`, `<f32 as Real>::max`.
pub(super) fn is_of_trait(types: &mut Types, function: &Expr) -> bool {
    let Expr::Path(path) = function else { return false };
    match &path.qself {
        Some(owner) => owner.as_token.is_some(),
        None => types.of_owner(path).is_none(),
    }
}
