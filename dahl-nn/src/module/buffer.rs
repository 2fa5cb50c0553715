//! [`Buffer`]: an array of a module that is saved, and not learned.

use std::sync::{Mutex, MutexGuard, PoisonError};

use dahl::prelude::*;

use super::{Member, MemberMut, Module, Visit, VisitMut};

/// An array that belongs to a model and is saved with it, but is not learned, such as the running mean of a batch
/// normalisation: flat, the elements of `shape` in row-major order.
///
/// A forward pass may change it.
#[derive(Debug)]
pub struct Buffer<T: Real> {
    shape: Vec<usize>,
    value: Mutex<Vector<'static, T>>,
}

impl<T: Real> Buffer<T> {
    /// A buffer with this value.
    ///
    /// # Errors
    /// If the value is a part of another array whose elements are not contiguous.
    #[track_caller]
    pub fn new<const N: usize>(value: Array<'static, T, N>) -> dahl::Result<Self> {
        let shape = value.shape().to_vec();
        Ok(Self { shape, value: Mutex::new(value.flatten()?) })
    }

    /// The shape.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The value, for as long as the guard lives. Whoever else needs it waits: do not call `forward` meanwhile.
    pub fn value(&self) -> MutexGuard<'_, Vector<'static, T>> {
        self.value.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value.
    pub fn value_mut(&mut self) -> &mut Vector<'static, T> {
        self.value.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Real> Module<T> for Buffer<T> {
    fn visit<'a>(&'a self, visit: &mut Visit<'_, 'a, T>) {
        visit.member(Member::Buffer(self));
    }

    fn visit_mut(&mut self, visit: &mut VisitMut<'_, T>) {
        visit.member(MemberMut::Buffer(self));
    }
}
