//! What may be a field of a module: modules in containers, and plain values, which have nothing inside.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::marker::PhantomData;

use dahl::prelude::*;

use super::{Module, Visit, VisitMut};

macro_rules! plain {
    ($($Type:ty),+) => {$(
        impl<T: Real> Module<T> for $Type {
            fn visit<'a>(&'a self, _: &mut Visit<'_, 'a, T>) {}

            fn visit_mut(&mut self, _: &mut VisitMut<'_, T>) {}
        }
    )+};
}

plain!(
    bool,
    char,
    u8,
    u16,
    u32,
    u64,
    u128,
    usize,
    i8,
    i16,
    i32,
    i64,
    i128,
    isize,
    f16,
    bf16,
    f32,
    f64,
    String,
    &str,
    ()
);

impl<T: Real, P: ?Sized> Module<T> for PhantomData<P> {
    fn visit<'a>(&'a self, _: &mut Visit<'_, 'a, T>) {}

    fn visit_mut(&mut self, _: &mut VisitMut<'_, T>) {}
}

impl<T: Real, M: Module<T> + ?Sized> Module<T> for Box<M> {
    fn visit<'a>(&'a self, visit: &mut Visit<'_, 'a, T>) {
        (**self).visit(visit);
    }

    fn visit_mut(&mut self, visit: &mut VisitMut<'_, T>) {
        (**self).visit_mut(visit);
    }
}

impl<T: Real, M: Module<T>> Module<T> for Option<M> {
    fn visit<'a>(&'a self, visit: &mut Visit<'_, 'a, T>) {
        if let Some(module) = self {
            module.visit(visit);
        }
    }

    fn visit_mut(&mut self, visit: &mut VisitMut<'_, T>) {
        if let Some(module) = self {
            module.visit_mut(visit);
        }
    }
}

impl<T: Real, M: Module<T>> Module<T> for [M] {
    fn visit<'a>(&'a self, visit: &mut Visit<'_, 'a, T>) {
        for (index, module) in self.iter().enumerate() {
            visit.field(index, module);
        }
    }

    fn visit_mut(&mut self, visit: &mut VisitMut<'_, T>) {
        for (index, module) in self.iter_mut().enumerate() {
            visit.field(index, module);
        }
    }
}

impl<T: Real, M: Module<T>> Module<T> for Vec<M> {
    fn visit<'a>(&'a self, visit: &mut Visit<'_, 'a, T>) {
        (**self).visit(visit);
    }

    fn visit_mut(&mut self, visit: &mut VisitMut<'_, T>) {
        (**self).visit_mut(visit);
    }
}

impl<T: Real, M: Module<T>, const N: usize> Module<T> for [M; N] {
    fn visit<'a>(&'a self, visit: &mut Visit<'_, 'a, T>) {
        self.as_slice().visit(visit);
    }

    fn visit_mut(&mut self, visit: &mut VisitMut<'_, T>) {
        self.as_mut_slice().visit_mut(visit);
    }
}

impl<T: Real, K: Display + Ord, M: Module<T>> Module<T> for BTreeMap<K, M> {
    fn visit<'a>(&'a self, visit: &mut Visit<'_, 'a, T>) {
        for (name, module) in self {
            visit.field(name, module);
        }
    }

    fn visit_mut(&mut self, visit: &mut VisitMut<'_, T>) {
        for (name, module) in self {
            visit.field(name, module);
        }
    }
}

macro_rules! tuples {
    ($(($($M:ident $place:tt),+);)*) => {$(
        impl<T: Real, $($M: Module<T>),+> Module<T> for ($($M,)+) {
            fn visit<'a>(&'a self, visit: &mut Visit<'_, 'a, T>) {
                $(visit.field($place, &self.$place);)+
            }

            fn visit_mut(&mut self, visit: &mut VisitMut<'_, T>) {
                $(visit.field($place, &mut self.$place);)+
            }
        }
    )*};
}

tuples! {
    (A 0);
    (A 0, B 1);
    (A 0, B 1, C 2);
    (A 0, B 1, C 2, D 3);
    (A 0, B 1, C 2, D 3, E 4);
    (A 0, B 1, C 2, D 3, E 4, F 5);
}
