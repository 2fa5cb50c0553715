//! [`Element`] for integers: labels, indices, masks, counts.

use super::Element;

macro_rules! impl_element_integer {
    ($($integer:ident),*) => {$(
        impl Element for $integer {
            const NAME: &'static str = stringify!($integer);
            const ZERO: Self = 0;
            const ONE: Self = 1;
            const LOWEST: Self = Self::MIN;
            const HIGHEST: Self = Self::MAX;

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn maximum(self, other: Self) -> Self {
                self.max(other)
            }

            #[inline(always)]
            fn minimum(self, other: Self) -> Self {
                self.min(other)
            }
        }
    )*};
}

impl_element_integer!(u8, u32, i32, i64);
