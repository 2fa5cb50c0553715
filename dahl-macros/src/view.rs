//! [`View`]: the type in which a kernel receives an array, recognised by its name.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{GenericArgument, Lifetime, Path, PathArguments, Type, parse_quote};

/// The type of a data parameter in kernel form.
#[derive(Clone)]
pub(crate) struct View {
    pub(crate) layout: Layout,
    pub(crate) mutable: bool,
    /// The view's element type: `T`, `u32`, or for `REDUX` also `T::Compute`.
    pub(crate) element: Type,
    /// The whole type as written.
    pub(crate) written: Type,
}

/// How a view lies in memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// `&[T]`: contiguous, of any rank.
    Slice,
    /// `ArrayView2<T>` and the like: strided, of this many axes.
    Axes(usize),
    /// `ArrayViewD<T>`: strided, of any rank.
    AnyAxes,
}

/// The end of an error about types that are not views.
pub(crate) const KNOWN: &str = "views are known by name: `&[T]`, `&mut [T]`, and ndarray's `ArrayView0` to `ArrayView6`, `ArrayViewD`, \
     `ArrayViewMut0` to `ArrayViewMut6`, `ArrayViewMutD`";

impl View {
    /// Parses `ty` as a view.
    pub(crate) fn of(ty: &Type) -> Option<Self> {
        match ty {
            Type::Reference(reference) => match &*reference.elem {
                Type::Slice(slice) => Some(Self {
                    layout: Layout::Slice,
                    mutable: reference.mutability.is_some(),
                    element: (*slice.elem).clone(),
                    written: ty.clone(),
                }),
                _ => None,
            },
            Type::Path(path) if path.qself.is_none() => Self::of_path(&path.path, ty),
            Type::Group(group) => Self::of(&group.elem),
            Type::Paren(paren) => Self::of(&paren.elem),
            _ => None,
        }
    }

    fn of_path(path: &Path, written: &Type) -> Option<Self> {
        let last = path.segments.last()?;
        let name = last.ident.to_string();
        let suffix = name.strip_prefix("ArrayView")?;
        let (mutable, suffix) = match suffix.strip_prefix("Mut") {
            Some(suffix) => (true, suffix),
            None => (false, suffix),
        };
        let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
        let mut types = arguments.args.iter().filter_map(|argument| match argument {
            GenericArgument::Type(ty) => Some(ty),
            _ => None,
        });
        let element = types.next()?.clone();
        let layout = match suffix {
            // `ArrayView<T, Ix2>`.
            "" => dimension(types.next()?)?,
            "D" => Layout::AnyAxes,
            axes => Layout::Axes(axes.parse().ok().filter(|axes| *axes <= 6)?),
        };
        Some(Self { layout, mutable, element, written: written.clone() })
    }

    /// The type as written, with `lifetime` in place of the elided one.
    pub(crate) fn with_lifetime(&self, lifetime: &Lifetime) -> Type {
        let mut ty = self.written.clone();
        let mut inner = &mut ty;
        while let Type::Group(syn::TypeGroup { elem, .. }) | Type::Paren(syn::TypeParen { elem, .. }) = inner
        {
            inner = elem;
        }
        match inner {
            Type::Reference(reference) => reference.lifetime = Some(lifetime.clone()),
            Type::Path(path) => {
                let last = path.path.segments.last_mut().expect("a view has a name");
                if let PathArguments::AngleBracketed(arguments) = &mut last.arguments {
                    let written = std::mem::take(&mut arguments.args).into_iter();
                    let others = written.filter(|argument| !matches!(argument, GenericArgument::Lifetime(_)));
                    arguments.args = std::iter::once(parse_quote!(#lifetime)).chain(others).collect();
                }
            }
            _ => {}
        }
        ty
    }

    /// The type by its absolute path, for generated functions.
    pub(crate) fn absolute(&self, root: &Path) -> TokenStream {
        let element = &self.element;
        let mutable = self.mutable.then(|| quote!(mut));
        let Some(dimension) = self.dimension(root) else { return quote!(&#mutable [#element]) };
        let name = Ident::new(if self.mutable { "ArrayViewMut" } else { "ArrayView" }, Span::call_site());
        quote!(#root::ndarray::#name<'_, #element, #dimension>)
    }

    /// The ndarray type for the number of axes; none for a slice.
    fn dimension(&self, root: &Path) -> Option<TokenStream> {
        let name = match self.layout {
            Layout::Slice => return None,
            Layout::Axes(axes) => format!("Ix{axes}"),
            Layout::AnyAxes => "IxDyn".to_owned(),
        };
        let name = Ident::new(&name, Span::call_site());
        Some(quote!(#root::ndarray::#name))
    }

    /// The call that takes this view from `views`.
    pub(crate) fn take(&self, root: &Path, views: &Ident) -> TokenStream {
        let element = &self.element;
        let (dimension, shared, mutable) = match self.dimension(root) {
            Some(dimension) => (Some(quote!(, #dimension)), "view", "view_mut"),
            None => (None, "slice", "slice_mut"),
        };
        let method = Ident::new(if self.mutable { mutable } else { shared }, Span::call_site());
        let taken = quote!(#views.#method::<#element #dimension>());
        // A type that only has the name of ndarray's type is a mismatch under the user's own token.
        quote_spanned!(self.written.span()=> #taken)
    }
}

/// The layout of `ArrayView<T, D>` for a known dimension `D`.
fn dimension(ty: &Type) -> Option<Layout> {
    let Type::Path(path) = ty else { return None };
    let name = path.path.segments.last()?.ident.to_string();
    match name.strip_prefix("Ix")? {
        "Dyn" => Some(Layout::AnyAxes),
        axes => Some(Layout::Axes(axes.parse().ok().filter(|axes| *axes <= 6)?)),
    }
}
