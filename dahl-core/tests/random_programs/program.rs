//! The actions of programs, and how they are drawn.

use std::num::NonZeroUsize;

use dahl_core::Reduction;
use proptest::prelude::*;

/// Arrays of integers. The indices in an [`Action`] are of these, unless it names the totals.
pub(crate) const ARRAYS: usize = 4;
/// Arrays of f32, which reductions go to.
pub(crate) const TOTALS: usize = 2;
pub(crate) const ROWS: usize = 5;
pub(crate) const COLUMNS: usize = 3;
pub(crate) const LEN: usize = ROWS * COLUMNS;

/// The index of element `i` along an axis.
pub(crate) fn index_along(i: usize, axis: usize) -> usize {
    if axis == 0 { i / COLUMNS } else { i % COLUMNS }
}

#[derive(Clone, Debug)]
pub(crate) enum Action {
    Mix(usize, usize, usize),
    Map(usize, usize, usize),
    MixSelf(usize, usize),
    MapSelf(usize, usize),
    Scale(usize, i64),
    Fill(usize, i64),
    AddUp(usize, usize),
    AddAny(usize, usize, usize),
    /// Scales every part of one array, by a different amount each.
    ScaleParts(usize, usize, usize),
    /// Parts of parts.
    ScaleNested(usize, usize),
    /// Fills every part, by a different value each: afterwards the array has a value, whatever it was before.
    FillParts(usize, usize, usize),
    /// In every part of the first, renames over it, with the second's parts as input.
    MixParts(usize, usize, usize),
    /// Maps every part of one array into the same part of another.
    MapParts(usize, usize, usize, usize),
    /// Adds up every part of one array into the same part of another.
    AddUpParts(usize, usize, usize, usize),
    /// Forgets the parts after use.
    LeakParts(usize, usize),
    /// Reduces an array into a total, so many times, by a factor that grows.
    Reduce(Reduction, usize, usize, usize),
    /// The same, from every part of the array into the same part of the total.
    ReduceParts(Reduction, usize, usize, usize, usize),
    /// As [`ReduceParts`](Self::ReduceParts), into parts whose values are forgotten first.
    ReducePartsAnew(Reduction, usize, usize, usize, usize),
    /// Reduces an array into one of an arena that has no value before.
    ReduceAnew(Reduction, usize, usize),
    FillTotal(usize, i8),
    ReadTotal(usize),
    FinalizeTotal(usize),
    WriteTotal(usize, i8),
    InvalidateTotal(usize),
    SetLeafLen(usize, NonZeroUsize),
    Invalidate(usize),
    /// Arrays of an arena, which is reset after each round; they may be forgotten.
    InArena(usize, usize, bool),
    /// The submitting thread panics while it holds arrays, parts, a task that is not yet submitted, and a guard.
    Unwind(usize, usize, usize),
    Read(usize),
    Write(usize, i64),
    Replace(usize),
    /// Replaces an array and forgets it.
    Forget(usize),
    Wait,
}

pub(crate) fn actions() -> impl Strategy<Value = Vec<Action>> {
    use Action::*;
    let array = || 0..ARRAYS;
    let total = || 0..TOTALS;
    let axis = || 0..2_usize;
    let chunk = || 1..4_usize;
    let reduction =
        || prop_oneof![3 => Just(Reduction::Sum), 1 => Just(Reduction::Max), 1 => Just(Reduction::Min)];
    // Leaves have 4 contributions: up to more than 4 leaves.
    let times = || prop_oneof![3 => 1..4_usize, 1 => 1..20_usize];
    let pair = || (array(), 1..ARRAYS).prop_map(|(a, distance)| (a, (a + distance) % ARRAYS));
    // The output is not one of the inputs, which may be the same.
    let triple = || {
        let inputs = |(out, a, b): (usize, usize, usize)| ((out + a) % ARRAYS, (out + b) % ARRAYS, out);
        (array(), 1..ARRAYS, 1..ARRAYS).prop_map(inputs)
    };
    let of_integers = prop_oneof![
        triple().prop_map(|(a, b, c)| Mix(a, b, c)),
        triple().prop_map(|(a, b, c)| Map(a, b, c)),
        pair().prop_map(|(a, b)| MixSelf(a, b)),
        pair().prop_map(|(a, b)| MapSelf(a, b)),
        (array(), 0..14_i64).prop_map(|(a, add)| Scale(a, add)),
        (array(), any::<i64>()).prop_map(|(a, value)| Fill(a, value)),
        pair().prop_map(|(a, b)| AddUp(a, b)),
        (pair(), 1..4_usize).prop_map(|((a, b), times)| AddAny(a, b, times)),
    ];
    let of_parts = prop_oneof![
        (array(), axis(), chunk()).prop_map(|(a, axis, chunk)| ScaleParts(a, axis, chunk)),
        (array(), axis()).prop_map(|(a, axis)| ScaleNested(a, axis)),
        (array(), axis(), chunk()).prop_map(|(a, axis, chunk)| FillParts(a, axis, chunk)),
        (pair(), axis()).prop_map(|((a, b), axis)| MixParts(a, b, axis)),
        (pair(), axis(), chunk()).prop_map(|((a, b), axis, chunk)| MapParts(a, b, axis, chunk)),
        (pair(), axis(), chunk()).prop_map(|((a, b), axis, chunk)| AddUpParts(a, b, axis, chunk)),
        (array(), axis()).prop_map(|(a, axis)| LeakParts(a, axis)),
    ];
    let of_totals = prop_oneof![
        6 => (reduction(), array(), total(), times()).prop_map(|(how, a, f, times)| Reduce(how, a, f, times)),
        2 => (reduction(), array(), total(), axis(), 1..7_usize)
            .prop_map(|(how, a, f, axis, times)| ReduceParts(how, a, f, axis, times)),
        1 => (reduction(), array(), total(), axis(), 1..7_usize)
            .prop_map(|(how, a, f, axis, times)| ReducePartsAnew(how, a, f, axis, times)),
        1 => (reduction(), array(), times()).prop_map(|(how, a, times)| ReduceAnew(how, a, times)),
        4 => total().prop_map(InvalidateTotal),
        1 => (total(), (1..6_usize).prop_map(|len| NonZeroUsize::new(len).expect("at least 1")))
            .prop_map(|(f, len)| SetLeafLen(f, len)),
        1 => (total(), any::<i8>()).prop_map(|(f, value)| FillTotal(f, value)),
        1 => total().prop_map(ReadTotal),
        1 => total().prop_map(FinalizeTotal),
        1 => (total(), any::<i8>()).prop_map(|(f, value)| WriteTotal(f, value)),
    ];
    let of_the_host = prop_oneof![
        2 => array().prop_map(Read),
        2 => (array(), any::<i64>()).prop_map(|(a, value)| Write(a, value)),
        1 => array().prop_map(Invalidate),
        2 => array().prop_map(Replace),
        1 => array().prop_map(Forget),
        2 => (array(), 1..4_usize, any::<bool>()).prop_map(|(a, rounds, forget)| InArena(a, rounds, forget)),
        2 => (pair(), axis()).prop_map(|((a, b), axis)| Unwind(a, b, axis)),
        1 => Just(Wait),
    ];
    let action = prop_oneof![8 => of_integers, 7 => of_parts, 5 => of_totals, 5 => of_the_host];
    prop::collection::vec(action, 1..60)
}
