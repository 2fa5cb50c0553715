//! [`ControlFlow`]: branches and loops that depend on the elements of arrays.

use std::panic::Location;

use half::{bf16, f16};

use crate::arena::Arena;
use crate::array::{Scalar, is_recording};
use crate::element::{Element, ElementType};
use crate::error::{Error, ErrorKind, Result};
use crate::graph::{ArrayState, Flow, Host, Log, LoggedFlow};
use crate::tape::SealedScope;

/// A scope with branches and loops that depend on the elements of arrays: an [`Arena`], a [`Recording`](crate::Recording), and
/// a step of a network that is not under a tape.
///
/// A *condition* is an array of one element. It is true unless the element is zero: NaN is true, both zeros of floats are
/// false.
///
/// Under an arena, `branch` and `repeat_while` wait for the condition. In a program they do not: each body is recorded once, and
/// a replay decides which body runs, and how often.
///
/// A body has a scope of its own, and what it makes there lives as long as the body. It changes arrays from outside in place. In
/// a program, reductions into these are completed where a body begins and ends, and numbers that vary from call to call
/// (random ones, those of an optimizer) cannot be used in it.
///
/// A [`Tape`](crate::Tape) has no branches: no gradient passes through them yet.
pub trait ControlFlow: SealedScope + Sized {
    /// An arena beside it.
    #[doc(hidden)]
    fn arena_of_flow(&self) -> &Arena;

    /// The scope of a body.
    ///
    /// # Errors
    /// If it is under a tape.
    #[doc(hidden)]
    fn begin_body(&self, flow: &'static str, location: &'static Location<'static>) -> Result<Self>;

    /// Releases what was made in the scope of a body.
    #[doc(hidden)]
    fn end_body(&self, body: &mut Self);

    /// Calls `body` with true if the condition is not zero, else with false. In a program it is called with both while it is
    /// recorded: with true first.
    ///
    /// ```
    /// # use dahl_core::{ControlFlow, Runtime, Scalar};
    /// # fn main() -> dahl_core::Result<()> {
    /// # let rt = Runtime::builder().cpu_workers(1).build()?;
    /// let arena = rt.arena();
    /// let is_large: Scalar<'_, u8> = arena.filled([], 1)?;
    /// let mut taken = None;
    /// arena.branch(&is_large, |_, holds| {
    ///     taken = Some(holds);
    ///     Ok(())
    /// })?;
    /// assert_eq!(taken, Some(true));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Those of `body`; those of reading the condition, unless a program is recorded; and if the scope is under a tape.
    #[track_caller]
    fn branch<T: Element>(
        &self,
        condition: &Scalar<'_, T>,
        mut body: impl FnMut(&Self, bool) -> Result<()>,
    ) -> Result<()> {
        let location = Location::caller();
        let flow = Flow { repeats: false, holds: holds::<T>, bits: bits::<T>() };
        let mut inside = self.begin_body(flow.name(), location)?;
        let mut run = |holds| {
            let result = body(&inside, holds);
            self.end_body(&mut inside);
            result
        };
        match log_of(self.arena_of_flow(), condition.state(), flow, location)? {
            Some(log) => {
                let condition = condition.state();
                settle(condition.host());
                let then = region(log, condition.host(), || run(true))?;
                let otherwise = region(log, condition.host(), || run(false))?;
                let bodies = vec![then, otherwise];
                log.flow(LoggedFlow { flow, condition: condition.id(), bodies, location });
                Ok(())
            }
            None => {
                let holds = condition.read()?[()] != T::ZERO;
                run(holds)
            }
        }
    }

    /// Calls `body` as long as the condition is not zero: it is looked at before each round. In a program `body` is called once
    /// while it is recorded.
    ///
    /// # Errors
    /// As for [`branch`](Self::branch).
    #[track_caller]
    fn repeat_while<'c, T: Element>(
        &self,
        condition: &mut Scalar<'c, T>,
        mut body: impl FnMut(&Self, &mut Scalar<'c, T>) -> Result<()>,
    ) -> Result<()> {
        let location = Location::caller();
        let flow = Flow { repeats: true, holds: holds::<T>, bits: bits::<T>() };
        let mut inside = self.begin_body(flow.name(), location)?;
        let mut run = |condition: &mut Scalar<'c, T>| {
            let result = body(&inside, condition);
            self.end_body(&mut inside);
            result
        };
        match log_of(self.arena_of_flow(), condition.state(), flow, location)? {
            Some(_) => {
                settle(condition.state().host());
                let id = condition.state().id();
                let engine = std::sync::Arc::clone(condition.state().engine());
                let log = engine.host().log().expect("it has one");
                let body = region(log, engine.host(), || run(condition))?;
                log.flow(LoggedFlow { flow, condition: id, bodies: vec![body], location });
                Ok(())
            }
            None => {
                while condition.read()?[()] != T::ZERO {
                    run(condition)?;
                }
                Ok(())
            }
        }
    }
}

impl ControlFlow for Arena {
    fn arena_of_flow(&self) -> &Arena {
        self
    }

    fn begin_body(&self, _: &'static str, _: &'static Location<'static>) -> Result<Self> {
        Ok(self.sibling())
    }

    fn end_body(&self, body: &mut Self) {
        body.reset();
    }
}

/// Whether the bytes of an element are not zero.
fn holds<T: Element>(bytes: &[u8]) -> bool {
    bytemuck::pod_read_unaligned::<T>(bytes) != T::ZERO
}

/// The bits of an element of which one is set if it is not zero: all but the sign of a float. None for a type of another crate.
fn bits<T: Element>() -> Option<u64> {
    let element = ElementType::of::<T>();
    let is_float = element.is::<f16>() || element.is::<bf16>() || element.is::<f32>() || element.is::<f64>();
    let is_integer = element.is::<u8>() || element.is::<u32>() || element.is::<i32>() || element.is::<i64>();
    let all = || u64::MAX >> (64 - 8 * element.size_bytes);
    match (is_float, is_integer) {
        (true, _) => Some(all() >> 1),
        (_, true) => Some(all()),
        _ => None,
    }
}

/// The log, if the scope and the condition are those of a program that is recorded.
///
/// # Errors
/// If the condition is not of the scope's runtime.
fn log_of<'c>(
    arena: &Arena,
    condition: &'c ArrayState,
    flow: Flow,
    location: &'static Location<'static>,
) -> Result<Option<&'c Log>> {
    if arena.is_of(&**condition.engine()) {
        return Ok(condition.host().log());
    }
    let codelet = flow.name();
    let kind = match is_recording() {
        true => ErrorKind::NotAnArgument { codelet },
        false => ErrorKind::TwoRuntimes { codelet },
    };
    Err(Error::at(kind, location))
}

/// Records a body as a region.
fn region(log: &Log, host: &Host, body: impl FnOnce() -> Result<()>) -> Result<crate::graph::LoggedRegion> {
    let (result, region) = log.region(|| {
        let result = body();
        settle(host);
        result
    });
    result.map(|()| region)
}

/// Completes what is pending for the arrays of a recording: each reduction, and each partition whose parts nobody has, begins
/// and ends on one side of a body's border.
fn settle(host: &Host) {
    for array in host.arrays().iter() {
        array.partitions().join_unused(array);
        array.reductions().settle(array);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: Element>(elements: &[T]) {
        let bits = bits::<T>().expect("it is a type of dahl's");
        for element in elements {
            let bytes = bytemuck::bytes_of(element);
            let value = bytes.iter().rev().fold(0_u64, |value, &byte| value << 8 | u64::from(byte));
            assert_eq!(value & bits != 0, holds::<T>(bytes), "{element} of {}", T::NAME);
        }
    }

    #[test]
    fn a_device_finds_by_bits_what_the_host_finds_by_comparison() {
        check(&[0.0_f32, -0.0, 1.0, -1.0, f32::NAN, -f32::NAN, f32::INFINITY, f32::from_bits(1)]);
        check(&[0.0_f64, -0.0, 1.0, -1.0, f64::NAN, -f64::NAN, f64::NEG_INFINITY, f64::from_bits(1)]);
        check(&(0..=u16::MAX).map(f16::from_bits).collect::<Vec<_>>());
        check(&(0..=u16::MAX).map(bf16::from_bits).collect::<Vec<_>>());
        check(&(0..=u8::MAX).collect::<Vec<_>>());
        check(&[0_u32, 1, 1 << 31, u32::MAX]);
        check(&[0_i32, 1, -1, i32::MIN]);
        check(&[0_i64, 1, -1, i64::MIN, 1 << 32]);
    }
}
