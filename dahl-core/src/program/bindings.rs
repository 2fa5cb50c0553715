//! [`Bindings`]: the arguments of a call of a program; [`Signature`]: what of them a recording depends on.
#![allow(unsafe_code, reason = "keeps the states of arrays that it borrows")]

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::panic::Location;
use std::ptr::NonNull;

use super::engine::Engine;
use super::varying::{CallNumbers, Numbers};
use crate::argument::Argument;
use crate::array::{Array, Shared};
use crate::element::{Element, ElementType};
use crate::error::{Error, ErrorKind, Result};
use crate::executor::Executor;
use crate::graph::ArrayState;
use crate::shape::Layout;

/// The arrays and plain values of a call, in the order of the parameters.
#[derive(Debug, Default)]
pub struct Bindings<'a> {
    pub(super) arrays: Vec<Binding>,
    values: Vec<u8>,
    pub(super) numbers: CallNumbers,
    /// What keeps the arrays that are inside of arguments.
    owners: Vec<Shared>,
    borrows: PhantomData<&'a mut ()>,
}

/// An array of a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Binding {
    pub(super) state: NonNull<ArrayState>,
    pub(super) kind: BindingKind,
}

/// What of an array a recording depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct BindingKind {
    pub(super) element: ElementType,
    pub(super) layout: Layout,
    pub(super) writes: bool,
    /// How many contributions to a reduction share a buffer: the rounding depends on it. 0 for the default.
    pub(super) leaf_len: usize,
}

// SAFETY: the states are those of borrowed arrays, which are `Send` and `Sync`.
unsafe impl Send for Bindings<'_> {}

/// The arguments of a call, without their borrows: what is recorded has stand-ins for them.
#[derive(Debug)]
pub struct Detached {
    /// Where the states were: they are compared, and nothing is read there.
    pub(super) states: Vec<*const ArrayState>,
    pub(super) signature: Signature,
    pub(super) numbers: CallNumbers,
}

/// So many arguments are compared in pairs.
const FEW: usize = 32;

/// The element types, layouts and modes of the arrays, and the plain values.
#[derive(Clone, Debug)]
pub struct Signature {
    pub(super) arrays: Vec<BindingKind>,
    values: Vec<u8>,
}

impl BindingKind {
    fn is_same(&self, other: &Self) -> bool {
        self.element == other.element
            && self.writes == other.writes
            && self.leaf_len == other.leaf_len
            && self.layout.is_same(&other.layout)
    }
}

impl<'a> Bindings<'a> {
    /// Without arguments.
    pub fn new() -> Self {
        Self::default()
    }

    /// The memory of this, for other arguments.
    pub fn recycled<'b>(mut self) -> Bindings<'b> {
        self.arrays.clear();
        self.values.clear();
        self.owners.clear();
        self.numbers.clear();
        let Self { arrays, values, numbers, owners, .. } = self;
        Bindings { arrays, values, numbers, owners, borrows: PhantomData }
    }

    /// Adds an array that the program reads.
    pub fn read<T: Element, const N: usize>(&mut self, array: &'a Array<'_, T, N>) {
        self.add(array, false);
    }

    /// Adds an array that the program may change.
    pub fn write<T: Element, const N: usize>(&mut self, array: &'a mut Array<'_, T, N>) {
        self.add(array, true);
    }

    /// Adds an array inside of an argument, which the program reads. The argument is borrowed until the call returns; the
    /// array is kept besides, since nothing says for how long it is inside.
    pub fn read_inside<T: Element, const N: usize>(&mut self, array: &Array<'_, T, N>) {
        self.keep(array);
        self.add(array, false);
    }

    /// Adds an array inside of an argument, which the program may change. See [`read_inside`](Self::read_inside).
    pub fn write_inside<T: Element, const N: usize>(&mut self, array: &mut Array<'_, T, N>) {
        self.keep(array);
        self.add(array, true);
    }

    /// # Panics
    /// If it is a part of another array: what is inside of arguments is whole.
    fn keep<T: Element, const N: usize>(&mut self, array: &Array<'_, T, N>) {
        let owner = Shared::of(array.state());
        self.owners.push(owner.expect("the arrays of a module are no parts of others"));
    }

    fn add<T: Element, const N: usize>(&mut self, array: &Array<'_, T, N>, writes: bool) {
        let leaf_len = array.state().reductions().leaf_len();
        let kind = BindingKind { element: ElementType::of::<T>(), layout: array.layout(), writes, leaf_len };
        self.arrays.push(Binding { state: NonNull::from(array.state()), kind });
    }

    /// Adds a plain value, on which the recording depends.
    pub fn value<A: Argument>(&mut self, value: A) {
        let start = self.values.len();
        self.values.resize(start + A::SIZE_BYTES, 0);
        value.encode(&mut self.values[start..]);
    }

    /// Adds a text on which the recording depends: settings.
    pub fn text(&mut self, text: fmt::Arguments<'_>) {
        let _ = io::Write::write_fmt(&mut self.values, text); // into memory, which does not fail
        self.values.push(0);
    }

    /// Adds something else on which the recording depends: how many elements a slice has.
    pub fn count(&mut self, count: usize) {
        self.values.extend_from_slice(&count.to_ne_bytes());
    }

    /// Adds numbers on which the recording does not depend: plain arguments that the tasks submitted
    /// [`with_slot`](super::with_slot) get in this call. Returns the slot's number; none if there are no numbers.
    pub fn slot(&mut self, write: impl FnOnce(&mut Numbers<'_>)) -> Option<usize> {
        let slot = self.numbers.slot(write);
        let bytes = slot.and_then(|slot| self.numbers.range(slot));
        self.count(bytes.map_or(0, |bytes| bytes.len()));
        slot
    }

    /// Takes the numbers that the arguments had.
    pub fn set_numbers(&mut self, before: &Detached) {
        self.numbers.clone_from(&before.numbers);
    }

    /// Sets the seed of the call's random numbers, and how many of them come before.
    pub fn set_random(&mut self, seed: u64, before: u64) {
        self.numbers.random = (seed, before);
    }

    /// The plain values on which the recording depends.
    pub(super) fn values(&self) -> &[u8] {
        &self.values
    }

    /// The number of arrays.
    pub fn arrays(&self) -> usize {
        self.arrays.len()
    }

    /// What a recording depends on.
    pub fn signature(&self) -> Signature {
        Signature {
            arrays: self.arrays.iter().map(|array| array.kind).collect(),
            values: self.values.clone(),
        }
    }

    /// Whether a recording with this signature is one for these arguments.
    pub fn fits(&self, signature: &Signature) -> bool {
        self.arrays.len() == signature.arrays.len()
            && self.values == signature.values
            && self.arrays.iter().zip(&signature.arrays).all(|(own, other)| own.kind.is_same(other))
    }

    /// The states, for the lifetime of the borrows.
    pub(super) fn states(&self) -> impl Iterator<Item = (&'a ArrayState, bool)> {
        // SAFETY: the arrays are borrowed for `'a`, or owned by this; an owner is given up when this is recycled.
        self.arrays.iter().map(|array| (unsafe { array.state.as_ref() }, array.kind.writes))
    }

    /// What of each array a recording depends on.
    pub(super) fn kinds(&self) -> impl Iterator<Item = &BindingKind> {
        self.arrays.iter().map(|array| &array.kind)
    }

    /// Requires that no array is there twice, and that all are of a runtime.
    ///
    /// # Errors
    /// That names the two arguments.
    pub(super) fn require_usable(
        &self,
        engine: &Engine,
        program: &'static str,
        location: &'static Location<'static>,
    ) -> Result<()> {
        let executor: *const Executor = engine.executor();
        if self.states().any(|(state, _)| !std::ptr::addr_eq(&raw const **state.engine(), executor)) {
            return Err(Error::at(ErrorKind::TwoRuntimes { codelet: program }, location));
        }
        let twice = if self.arrays.len() <= FEW { self.first_pair() } else { self.any_pair() };
        let Some((earlier, later)) = twice else { return Ok(()) };
        let fact = format!(
            "arrays {earlier} and {later} of its arguments, counted from 0, are one array, or one is a part of the other; \
             pass it once"
        );
        Err(Error::at(ErrorKind::Program { program, fact }, location))
    }

    /// Two arguments that are one array, or an array and a part of it.
    fn first_pair(&self) -> Option<(usize, usize)> {
        self.states().enumerate().find_map(|(later, (state, _))| {
            let is_same = |(other, _): (&ArrayState, bool)| {
                std::ptr::eq(other, state)
                    || other.whole() == Some(state.id())
                    || state.whole() == Some(other.id())
            };
            Some((self.states().take(later).position(is_same)?, later))
        })
    }

    /// The same, for many arguments.
    fn any_pair(&self) -> Option<(usize, usize)> {
        let arrays: HashMap<_, _> =
            self.states().enumerate().map(|(index, (state, _))| (state.id(), index)).collect();
        let is_of_another = |(index, (state, _)): (usize, (&ArrayState, bool))| {
            let other = arrays.get(&state.id()).filter(|other| **other != index);
            let other = other.or_else(|| arrays.get(&state.whole()?))?;
            Some((index.min(*other), index.max(*other)))
        };
        self.states().enumerate().find_map(is_of_another)
    }

    /// What remains to be known of the arguments while the function has them.
    ///
    /// # Errors
    /// As for a call.
    pub fn detached(
        &self,
        engine: &Engine,
        program: &'static str,
        location: &'static Location<'static>,
    ) -> Result<Detached> {
        self.require_usable(engine, program, location)?;
        let states = self.arrays.iter().map(|array| array.state.as_ptr().cast_const()).collect();
        Ok(Detached { states, signature: self.signature(), numbers: self.numbers.clone() })
    }
}

impl Detached {
    /// What a recording for these arguments depends on.
    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    /// The number of arrays.
    pub fn arrays(&self) -> usize {
        self.states.len()
    }

    /// Requires that the arguments are the arrays that they were.
    ///
    /// # Errors
    /// If the function has put other arrays in their places.
    pub fn require_same(
        &self,
        bindings: &Bindings<'_>,
        program: &'static str,
        location: &'static Location<'static>,
    ) -> Result<()> {
        let states = bindings.arrays.iter().map(|array| array.state.as_ptr().cast_const());
        // Plain values may differ: an optimizer has counted its step.
        if states.eq(self.states.iter().copied()) {
            return Ok(());
        }
        let fact =
            "it has put another array in the place of an argument; change the elements of the argument"
                .to_owned();
        Err(Error::at(ErrorKind::Program { program, fact }, location))
    }
}

impl Signature {
    /// The shape and the element type of each array, and whether the program may change it.
    pub fn arrays(&self) -> impl Iterator<Item = (&[usize], ElementType, bool)> {
        self.arrays.iter().map(|kind| (kind.layout.extents(), kind.element, kind.writes))
    }
}
