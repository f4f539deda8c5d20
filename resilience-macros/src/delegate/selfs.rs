//! What `Self` means in a trait and in its impl for the delegate.
//!
//! `Self::Row` is the same type in both, since the delegate takes its types from what is in it. `Self` by itself is not.

use proc_macro2::{Ident, Span};
use syn::visit_mut::{self, VisitMut};
use syn::{
    CapturedParam, Generics, Lifetime, ParenthesizedGenericArguments, Path, ReturnType, Signature,
    Type, TypeFnPtr, TypePath, TypeReference, WherePredicate,
};

use crate::diagnostic::{Code, Diagnostics};
use crate::signature::ungrouped;

/// Whether the type is `Self`.
pub(crate) fn is(ty: &Type) -> bool {
    matches!(ungrouped(ty), Type::Path(path) if path.qself.is_none() && path.path.is_ident("Self"))
}

/// Finds `Self` by itself.
#[derive(Default)]
pub(crate) struct Bare(Vec<Ident>);

impl Bare {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn in_type(&mut self, ty: &Type) {
        self.visit_type_mut(&mut ty.clone());
    }

    /// `Self: Sync` says something of it, and hands nothing on.
    pub(crate) fn in_predicate(&mut self, predicate: &WherePredicate) {
        let mut predicate = predicate.clone();
        if let WherePredicate::Type(predicate) = &mut predicate
            && is(&predicate.bounded_ty)
        {
            for bound in &mut predicate.bounds {
                self.visit_type_param_bound_mut(bound);
            }
        } else {
            self.visit_where_predicate_mut(&mut predicate);
        }
    }
}

impl VisitMut for Bare {
    fn visit_type_path_mut(&mut self, path: &mut TypePath) {
        if path.qself.as_ref().is_some_and(|qself| is(&qself.ty)) {
            self.visit_path_mut(&mut path.path);
        } else if path.path.is_ident("Self") {
            self.0.push(path.path.segments[0].ident.clone());
        } else {
            visit_mut::visit_type_path_mut(self, path);
        }
    }
}

/// Refuses `Self` by itself where `look` finds it. Returns whether it found none.
pub(crate) fn refuse(look: impl FnOnce(&mut Bare), diagnostics: &mut Diagnostics) -> bool {
    let mut bare = Bare::default();
    look(&mut bare);
    for ident in &bare.0 {
        let message = "the delegate cannot hand `Self` on in this place, only as an argument `Self`, `&Self` or `&mut Self` and as the output `Self`, `Option<Self>` or `Result<Self, _>`";
        diagnostics.report(Code::NotLimitable, ident, message);
    }
    bare.is_empty()
}

/// Writes `Self::Row` as `T::Row`.
pub(crate) fn projected(inner: &Ident) -> impl VisitMut {
    Replace {
        inner,
        whole: false,
    }
}

/// Writes `Self` as `T` wherever it stands.
pub(crate) fn replaced(inner: &Ident) -> impl VisitMut {
    Replace { inner, whole: true }
}

/// Writes the `Self` that a future captures by `use<Self>` as `T`: it is a parameter in the trait only.
pub(crate) fn captured(output: &mut ReturnType, inner: &Ident) {
    struct Captured<'a>(&'a Ident);
    impl VisitMut for Captured<'_> {
        fn visit_captured_param_mut(&mut self, param: &mut CapturedParam) {
            if let CapturedParam::Ident(ident) = param
                && ident == "Self"
            {
                *ident = self.0.clone();
            }
        }
    }
    Captured(inner).visit_return_type_mut(output);
}

struct Replace<'a> {
    inner: &'a Ident,
    whole: bool,
}

impl VisitMut for Replace<'_> {
    fn visit_type_path_mut(&mut self, path: &mut TypePath) {
        if let Some(qself) = &mut path.qself
            && is(&qself.ty)
        {
            let inner = self.inner;
            *qself.ty = syn::parse_quote!(#inner);
        }
        visit_mut::visit_type_path_mut(self, path);
    }

    fn visit_path_mut(&mut self, path: &mut Path) {
        let more = path.segments.len() > 1;
        if let Some(first) = path.segments.first_mut()
            && first.ident == "Self"
            && (more || self.whole)
        {
            first.ident = self.inner.clone();
        }
        visit_mut::visit_path_mut(self, path);
    }
}

/// A type of `Self` that the trait itself does not have: `Self::Error` or `<Self as Service>::Error`.
pub(crate) struct Inherited {
    /// The trait that has it, if that is written there.
    pub(crate) of: Option<Path>,
    pub(crate) name: Ident,
    /// The lifetimes of the method in it.
    pub(crate) lifetimes: Vec<Lifetime>,
}

/// Finds what a method names of the supertraits' types.
pub(crate) fn inherited(sig: &Signature, own: &[String], of: &Ident) -> Vec<Inherited> {
    let mut finder = Finder {
        generics: &sig.generics,
        own,
        of,
        found: Vec::new(),
    };
    finder.visit_signature_mut(&mut sig.clone());
    finder.found
}

struct Finder<'a> {
    generics: &'a Generics,
    own: &'a [String],
    of: &'a Ident,
    found: Vec<Inherited>,
}

impl VisitMut for Finder<'_> {
    fn visit_type_path_mut(&mut self, path: &mut TypePath) {
        let segments = &path.path.segments;
        let (of, at) = match &path.qself {
            None if segments[0].ident == "Self" => (None, 1),
            Some(qself) if is(&qself.ty) && qself.position > 0 => {
                let of = segments.iter().take(qself.position).cloned();
                let of = Path {
                    leading_colon: path.path.leading_colon,
                    segments: of.collect(),
                };
                (Some(of), qself.position)
            }
            _ => return visit_mut::visit_type_path_mut(self, path),
        };
        let own = |name: &Ident| of.is_none() && self.own.iter().any(|own| name == own);
        let of_itself = of
            .as_ref()
            .and_then(|of| of.segments.last())
            .is_some_and(|last| last.ident == *self.of);
        if let Some(segment) = segments.get(at)
            && segment.arguments.is_none()
            && !of_itself
            && !own(&segment.ident)
        {
            let name = segment.ident.clone();
            let mut lives = Lives {
                generics: self.generics,
                found: Vec::new(),
            };
            let of = of.map(|mut of| {
                lives.visit_path_mut(&mut of);
                of
            });
            self.found.push(Inherited {
                of,
                name,
                lifetimes: lives.found,
            });
        }
        visit_mut::visit_type_path_mut(self, path);
    }
}

/// Finds the lifetimes of a method, and gives those without a name one.
struct Lives<'a> {
    generics: &'a Generics,
    found: Vec<Lifetime>,
}

impl Lives<'_> {
    fn unnamed(&mut self) -> Lifetime {
        let name = format!("'adaptive_limit{}", self.found.len());
        let lifetime = Lifetime::new(&name, Span::mixed_site());
        self.found.push(lifetime.clone());
        lifetime
    }
}

impl VisitMut for Lives<'_> {
    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        if lifetime.ident == "_" {
            *lifetime = self.unnamed();
        } else if self.generics.lifetimes().any(|of| of.lifetime == *lifetime)
            && !self.found.contains(lifetime)
        {
            self.found.push(lifetime.clone());
        }
    }

    fn visit_type_reference_mut(&mut self, reference: &mut TypeReference) {
        if reference.lifetime.is_none() {
            reference.lifetime = Some(self.unnamed());
        }
        visit_mut::visit_type_reference_mut(self, reference);
    }

    // What has no name in these is theirs.
    fn visit_type_fn_ptr_mut(&mut self, _: &mut TypeFnPtr) {}

    fn visit_parenthesized_generic_arguments_mut(&mut self, _: &mut ParenthesizedGenericArguments) {
    }
}
