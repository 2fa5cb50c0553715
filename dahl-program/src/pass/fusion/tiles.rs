//! [`Tiles`]: how the tiles of steps that are fused are cut, and whether they stay in the cache.

use dahl_core::__program::{Kind, Part, TILE_BYTES, stretched};

/// Bytes of all inputs that each tile reads whole: they stay in the second-level cache too.
const WHOLE_BYTES: usize = 256 << 10;

/// A step that may be fused, with the arrays of its operands.
pub(super) struct Member<'p> {
    pub(super) part: &'p Part<'p>,
    pub(super) arrays: Vec<usize>,
}

impl<'p> Member<'p> {
    /// The array that it writes.
    pub(super) fn made(&self) -> usize {
        self.arrays[self.part.output()]
    }

    /// The extents of what it writes.
    fn output(&self) -> &'p [usize] {
        self.part.extents(self.part.output())
    }

    /// Whether an operand is all elements of its array, in row-major order.
    fn reads_in_order(&self, operand: usize) -> bool {
        let access = self.part.desc().accesses().nth(self.part.access(operand));
        access.is_some_and(|access| access.is_in_order())
    }

    fn inputs(&self) -> impl Iterator<Item = (usize, usize)> {
        self.arrays[..self.part.output()].iter().copied().enumerate()
    }

    fn bytes(&self, operand: usize, axes: usize) -> usize {
        self.part.extents(operand)[axes..].iter().product::<usize>() * self.part.element_bytes(operand)
    }
}

/// How tiles are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tiles {
    /// Into any boxes: all steps are maps of one shape.
    Boxes,
    /// Into rows along so many leading axes.
    Rows(usize),
}

impl Tiles {
    /// How many leading axes they are cut along; none for all.
    pub(super) fn axes(self) -> Option<usize> {
        match self {
            Self::Boxes => None,
            Self::Rows(axes) => Some(axes),
        }
    }

    /// The tiles of these steps. `shares_kernels`: whether several workers may share a large kernel.
    ///
    /// # Errors
    /// Why they cannot run tile by tile.
    pub(super) fn of(members: &[Member<'_>], shares_kernels: bool) -> Result<Self, &'static str> {
        let first = members.first().expect("there are members").output();
        // A tile of what is passed on has its elements in order.
        let writer = |array: usize| members.iter().find(|member| member.made() == array);
        for member in members {
            for (operand, array) in member.inputs() {
                let reads_as_written = |writer: &Member<'_>| {
                    writer.output() == member.part.extents(operand) && member.reads_in_order(operand)
                };
                if !writer(array).is_none_or(reads_as_written) {
                    return Err("it reads what is passed on in another shape, or in another order");
                }
            }
        }
        if members.iter().all(|member| member.part.kind() == Kind::Map && member.output() == first) {
            return Ok(Self::Boxes);
        }
        if members.iter().filter(|member| member.part.kind() == Kind::Whole).count() > 1 {
            return Err("a task has one kernel that is neither a map nor works by rows");
        }
        let most = members.iter().map(|member| member.part.axes()).min().unwrap_or(0);
        let common = |member: &Member<'_>| {
            member.output().iter().zip(first).take_while(|(own, other)| own == other).count()
        };
        let most = members.iter().map(common).min().unwrap_or(0).min(most);
        // What each row reads whole is there before the first of them.
        let is_there = |member: &Member<'_>| {
            member.inputs().all(|(operand, array)| member.part.is_cut(operand) || writer(array).is_none())
        };
        let can_be_cut = |axes: &usize| {
            members.iter().all(|member| is_there(member) && member.part.can_be_cut(&first[..*axes], false))
        };
        let axes = (1..=most).rev().find(can_be_cut).unwrap_or(0);
        let is_shared = shares_kernels
            && members.iter().any(|member| member.part.kind() == Kind::Whole && member.part.is_parallel());
        if axes > 0 && !is_shared && fits_by_rows(members, axes) {
            return Ok(Self::Rows(axes));
        }
        if bytes(members, 0, |_, _| true) <= TILE_BYTES {
            return Ok(Self::Rows(0));
        }
        Err(if axes > 0 && is_shared {
            "several workers may share the kernel, and together they use more than a tile"
        } else if axes > 0 {
            "the rows, or what each of them reads whole, are larger than a tile"
        } else {
            "they have no rows in common, and together they use more than a tile"
        })
    }
}

/// Whether rows, and what each of them reads whole, stay in the cache.
fn fits_by_rows(members: &[Member<'_>], axes: usize) -> bool {
    let least = members.iter().map(|member| member.part.least()).max().unwrap_or(1);
    let row = bytes(members, axes, |member, operand| member.part.is_cut(operand));
    let whole = bytes(members, 0, |member, operand| !member.part.is_cut(operand));
    row * least <= TILE_BYTES && whole <= WHOLE_BYTES
}

/// Bytes of all arrays of some of the operands, each once, without their first `axes` axes.
fn bytes(members: &[Member<'_>], axes: usize, counts: impl Fn(&Member<'_>, usize) -> bool) -> usize {
    let mut seen: Vec<usize> = Vec::new();
    let mut bytes = 0;
    for member in members {
        for (operand, &array) in member.arrays.iter().enumerate() {
            if counts(member, operand) && !seen.contains(&array) {
                seen.push(array);
                bytes += member.bytes(operand, axes);
            }
        }
    }
    bytes
}

/// Whether what the steps use from outside, or write for others, has the extents along which they are cut: a task finds them
/// there. `is_given`: whether others read an array.
pub(super) fn has_extents(members: &[Member<'_>], tiles: Tiles, is_given: impl Fn(usize) -> bool) -> bool {
    let all = members.first().expect("there are members").output();
    let lead = &all[..tiles.axes().unwrap_or(all.len())];
    let made: Vec<usize> = members.iter().map(Member::made).collect();
    let outside = members.iter().flat_map(|member| {
        let arrays = member.arrays.iter().enumerate();
        arrays
            .filter(|&(operand, array)| {
                let is_outside = !made.contains(array) || operand == member.part.output() && is_given(*array);
                is_outside && member.part.is_cut(operand)
            })
            .map(|(operand, _)| &member.part.extents(operand)[..lead.len()])
    });
    lead.is_empty() || stretched(outside).as_deref() == Some(lead)
}
