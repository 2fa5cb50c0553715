//! [`BoundSpec`]: what an array must be that a replay is called with.

use super::array_spec::{ArraySpec, Place};
use super::bindings::BindingKind;
use super::check;
use super::steps::Step;
use crate::element::ElementType;
use crate::graph::PartOf;

/// What a bound array must be.
#[derive(Clone, Copy, Debug)]
pub(super) struct BoundSpec {
    element: ElementType,
    bytes: usize,
    part: Option<PartOf>,
    /// Whether a step changes it, or a part of it.
    changes: bool,
}

impl BoundSpec {
    pub(super) fn fits(&self, kind: &BindingKind) -> bool {
        let layout = &kind.layout;
        let is_placed = match self.part {
            Some(part) => layout.is_same(&part.layout),
            None => layout.offset == 0 && layout.is_contiguous(),
        };
        kind.element == self.element
            && layout.len() * kind.element.size_bytes == self.bytes
            && is_placed
            && (kind.writes || !self.changes)
    }

    /// Its bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether a body that is called with this array is called as it was recorded.
    pub(super) fn fits_array(&self, array: &ArraySpec) -> bool {
        let part = match array.place {
            Place::Part(part) => Some(part),
            Place::Bound(_) | Place::At(_) => array.part,
        };
        let is_placed = match (self.part, part) {
            (Some(own), Some(part)) => own.layout.is_same(&part.layout),
            (own, part) => own.is_none() && part.is_none(),
        };
        array.element == self.element && array.bytes == self.bytes && is_placed
    }

    /// Whether a step changes it, or a part of it.
    pub(super) fn changes(&self) -> bool {
        self.changes
    }
}

/// What the bound arrays must be, in their order.
pub(super) fn bound(arrays: &[ArraySpec], steps: &[Step]) -> Vec<BoundSpec> {
    let mut changes = vec![false; arrays.len()];
    for step in steps {
        check::uses(step).filter(|(_, writes)| *writes).for_each(|(array, _)| changes[array] = true);
    }
    let place = |(array, changes): (&ArraySpec, bool)| match array.place {
        Place::Bound(index) => {
            let ArraySpec { element, bytes, part, .. } = *array;
            Some((index, BoundSpec { element, bytes, part, changes }))
        }
        Place::At(_) | Place::Part(_) => None,
    };
    let mut bound: Vec<_> = arrays.iter().zip(changes).filter_map(place).collect();
    bound.sort_by_key(|(index, _)| *index);
    bound.into_iter().map(|(_, spec)| spec).collect()
}
