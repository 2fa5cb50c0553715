//! [`Tiles`]: AMX-BF16 tile registers, which hold 16 rows of 64 bytes and are multiplied as matrices of `bf16`.
//!
//! One instruction multiplies 16 rows of 16 [`Pair`]s with 16 pairs of rows of 16 columns and adds to 16 by 16 sums,
//! which takes 256 vector instructions. As with those, subnormal factors and sums are treated as zeros, so the
//! instruction only receives factors for which it is [exact](super::bf16_dot::are_exact).
//!
//! The compiler knows only the names of these registers, so each use of them is one piece of assembly: it loads sums,
//! adds products, and stores the sums ([`Tiles::add_products`]). A program asks Linux once for permission to use tiles,
//! and each thread configures them before it uses them ([`Tiles::with`]).

use super::bf16_dot::Pair;

#[cfg(all(target_arch = "x86_64", target_os = "linux", target_pointer_width = "64"))]
mod permission;
#[cfg(all(target_arch = "x86_64", target_os = "linux", target_pointer_width = "64"))]
mod registers;
#[cfg(all(target_arch = "x86_64", target_os = "linux", target_pointer_width = "64"))]
mod transpose;

#[cfg(not(all(target_arch = "x86_64", target_os = "linux", target_pointer_width = "64")))]
pub(crate) use no_registers::{Tiles, are_there};
#[cfg(all(target_arch = "x86_64", target_os = "linux", target_pointer_width = "64"))]
pub(crate) use permission::are_there;
#[cfg(all(target_arch = "x86_64", target_os = "linux", target_pointer_width = "64"))]
pub(crate) use registers::Tiles;

/// Rows of a tile, pairs of a row, and columns of a tile of sums.
pub(crate) const SIDE: usize = 16;

/// Rows, and columns, of the sums that are updated together: two tiles each way.
pub(crate) const BLOCK: usize = 2 * SIDE;

/// The left factor: `rows` rows, a multiple of [`SIDE`] and at most [`BLOCK`], `row_bytes` apart.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    not(all(target_arch = "x86_64", target_os = "linux", target_pointer_width = "64")),
    expect(dead_code, reason = "there are no tiles")
)]
pub(crate) struct Left {
    pub(crate) first: *const Pair,
    pub(crate) row_bytes: usize,
    pub(crate) rows: usize,
}

/// The right factor: rows of [`BLOCK`] pairs, `row_bytes` apart.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    not(all(target_arch = "x86_64", target_os = "linux", target_pointer_width = "64")),
    expect(dead_code, reason = "there are no tiles")
)]
pub(crate) struct Right {
    pub(crate) first: *const Pair,
    pub(crate) row_bytes: usize,
}

/// The initial sums: as many rows as the left factor has, of [`BLOCK`] elements, `row_bytes` apart.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    not(all(target_arch = "x86_64", target_os = "linux", target_pointer_width = "64")),
    expect(dead_code, reason = "there are no tiles")
)]
pub(crate) struct Initial {
    pub(crate) first: *const f32,
    pub(crate) row_bytes: usize,
}

/// Where the sums are written, likewise. It may be the memory of the initial sums.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sums {
    pub(crate) first: *mut f32,
    pub(crate) row_bytes: usize,
}

impl Sums {
    /// These sums as the initial ones.
    pub(crate) fn as_initial(&self) -> Initial {
        Initial { first: self.first, row_bytes: self.row_bytes }
    }
}

/// The distance in bytes of the multiplied tiles from the first element of each factor.
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(crate) struct Step {
    pub(crate) left: usize,
    pub(crate) right: usize,
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux", target_pointer_width = "64")))]
mod no_registers {
    use super::{Initial, Left, Pair, Right, SIDE, Step, Sums};

    pub(crate) fn are_there() -> bool {
        false
    }

    pub(crate) struct Tiles;

    impl Tiles {
        pub(crate) fn with<R>(_: impl FnOnce(&Self) -> R) -> R {
            unreachable!("this machine has no tiles")
        }

        #[allow(unsafe_code, reason = "as where there are tiles")]
        pub(crate) unsafe fn add_products(&self, _: Left, _: Right, _: &[Step], _: Initial, _: Sums) {
            unreachable!("this machine has no tiles")
        }

        pub(crate) fn transpose(&self, _: &mut [[Pair; SIDE]; SIDE]) {
            unreachable!("this machine has no tiles")
        }
    }
}

#[cfg(test)]
mod tests {
    use half::bf16;

    use super::*;

    /// Integers, so that all sums are exact.
    fn numbers(len: usize, seed: usize) -> Vec<bf16> {
        (0..len).map(|i| bf16::from_f32(((i * 37 + seed * 11) % 23) as f32 - 11.0)).collect()
    }

    #[test]
    #[allow(unsafe_code, reason = "calls what takes pointers")]
    fn sums_are_those_of_a_loop() {
        if !are_there() {
            eprintln!("skipped: this machine has no tiles");
            return;
        }
        const STEPS: usize = 3;
        for rows in [SIDE, BLOCK] {
            // Rows of the factors have some elements more than the tiles.
            let (depth, left_row, right_row, sums_row) =
                (STEPS * 2 * SIDE, STEPS * 2 * SIDE + 3, 2 * BLOCK + 6, BLOCK + 5);
            let (left, right) = (numbers(rows * left_row, 1), numbers(depth / 2 * right_row, 2));
            let mut sums: Vec<f32> = (0..rows * sums_row).map(|i| i as f32).collect();
            let mut expected = sums.clone();
            for row in 0..rows {
                for column in 0..BLOCK {
                    for d in 0..depth {
                        let by = right[d / 2 * right_row + 2 * column + d % 2];
                        expected[row * sums_row + column] += left[row * left_row + d].to_f32() * by.to_f32();
                    }
                }
            }
            let steps: Vec<_> =
                (0..STEPS).map(|step| Step { left: step * 64, right: step * SIDE * right_row * 2 }).collect();
            Tiles::with(|tiles| {
                let left = Left { first: left.as_ptr().cast(), row_bytes: left_row * 2, rows };
                let right = Right { first: right.as_ptr().cast(), row_bytes: right_row * 2 };
                let sums = Sums { first: sums.as_mut_ptr(), row_bytes: sums_row * 4 };
                // SAFETY: the factors and sums have these extents.
                unsafe { tiles.add_products(left, right, &steps, sums.as_initial(), sums) };
            });
            assert_eq!(sums, expected, "{rows} rows");
        }
    }

    #[test]
    fn rows_become_columns() {
        if !are_there() {
            eprintln!("skipped: this machine has no tiles");
            return;
        }
        let element = |row: usize, column: usize| [row, column].map(|number| bf16::from_f32(number as f32));
        let mut pairs = std::array::from_fn(|row| std::array::from_fn(|column| element(row, column)));
        Tiles::with(|tiles| tiles.transpose(&mut pairs));
        for (row, pairs) in pairs.iter().enumerate() {
            assert_eq!(*pairs, std::array::from_fn(|column| element(column, row)));
        }
    }
}
