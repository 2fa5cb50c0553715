//! [`Label`]: the class of a sample, as an integer.

use dahl::prelude::*;

/// An integer that numbers classes from 0.
pub trait Label: Element {
    /// The class, if it is one of `classes`.
    fn class(self, classes: usize) -> Option<usize>;

    /// Whether it is this number, such as the -100 of a label that does not count.
    fn is_number(self, number: i64) -> bool {
        self.class(usize::MAX).is_some_and(|class| i64::try_from(class) == Ok(number))
    }
}

macro_rules! impl_label {
    ($($integer:ty),*) => {$(
        impl Label for $integer {
            #[inline(always)]
            fn class(self, classes: usize) -> Option<usize> {
                usize::try_from(self).ok().filter(|&class| class < classes)
            }

            #[inline(always)]
            fn is_number(self, number: i64) -> bool {
                i64::from(self) == number
            }
        }
    )*};
}

impl_label!(u8, u32, i32, i64);

/// The class of sample `row`.
///
/// # Panics
/// If the label is not below `classes`; the task fails with this message.
#[inline(always)]
pub(crate) fn class_of<L: Label>(label: L, row: usize, classes: usize) -> usize {
    label
        .class(classes)
        .unwrap_or_else(|| panic!("label {label} of sample {row} is not one of {classes} classes"))
}
