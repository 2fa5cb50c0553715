//! [`Tiles`]: registers that hold 16 rows of 64 bytes, and are multiplied as matrices of `bf16` (AMX-BF16).
//!
//! One instruction multiplies 16 rows of 16 [`Pair`]s with 16 pairs of rows of 16 columns and adds to 16 by 16 sums: what
//! vectors do in 256 instructions. As with those, subnormal factors and sums are zeros, so only what is
//! [exact](super::pairs::are_exact) is given to it.
//!
//! The compiler knows nothing of these registers but their names, so each use of them is one piece of assembly: it loads sums,
//! adds products, and stores them ([`Tiles::add_products`]). A program must ask Linux once to be let use them, and each
//! thread says before how it divides them ([`Tiles::with`]).

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
pub(crate) use no_registers::{Tiles, are_there};
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub(crate) use registers::{Tiles, are_there};

use super::pairs::Pair;

/// Rows of a tile, pairs of one, and columns of a tile of sums.
pub(crate) const SIDE: usize = 16;

/// Rows, and columns, of the sums that are added to at once: two tiles each way.
pub(crate) const BLOCK: usize = 2 * SIDE;

/// The left factor: `rows` rows, a multiple of [`SIDE`] and at most [`BLOCK`], `row_bytes` apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Left {
    pub(crate) first: *const Pair,
    pub(crate) row_bytes: usize,
    pub(crate) rows: usize,
}

/// The right factor: rows of [`BLOCK`] pairs, `row_bytes` apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Right {
    pub(crate) first: *const Pair,
    pub(crate) row_bytes: usize,
}

/// What the sums begin with: as many rows as the left factor has, of [`BLOCK`] elements, `row_bytes` apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Initial {
    pub(crate) first: *const f32,
    pub(crate) row_bytes: usize,
}

/// Where the sums go, likewise. It may be where they come from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sums {
    pub(crate) first: *mut f32,
    pub(crate) row_bytes: usize,
}

impl Sums {
    /// Sums that are added to.
    pub(crate) fn as_initial(&self) -> Initial {
        Initial { first: self.first, row_bytes: self.row_bytes }
    }
}

/// How many bytes from the first element of each factor the tiles lie that are multiplied.
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(crate) struct Step {
    pub(crate) left: usize,
    pub(crate) right: usize,
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
#[allow(unsafe_code, reason = "assembly")]
mod registers {
    use std::arch::asm;
    use std::arch::x86_64::{
        __cpuid, __cpuid_count, _mm512_loadu_si512, _mm512_setzero_si512, _mm512_shuffle_i32x4,
        _mm512_storeu_si512, _mm512_unpackhi_epi32, _mm512_unpackhi_epi64, _mm512_unpacklo_epi32,
        _mm512_unpacklo_epi64, _xgetbv,
    };
    use std::cell::Cell;
    use std::env;
    use std::marker::PhantomData;
    use std::sync::OnceLock;

    use super::{BLOCK, Initial, Left, Right, SIDE, Step, Sums};
    use crate::cpu::pairs::{self, Pair};

    /// Whether this machine has these registers and lets the program use them. Not if `DAHL_SIMD` names a level: none has them.
    pub(crate) fn are_there() -> bool {
        static ARE_THERE: OnceLock<bool> = OnceLock::new();
        *ARE_THERE.get_or_init(|| {
            env::var_os("DAHL_SIMD").is_none() && pairs::are_multiplied() && are_saved() && are_permitted()
        })
    }

    /// Whether the processor has AMX-TILE and AMX-BF16, and the system saves the registers where threads take turns.
    fn are_saved() -> bool {
        const OSXSAVE: u32 = 1 << 27;
        const AMX_BF16_AND_TILE: u32 = 1 << 22 | 1 << 24;
        const CONFIGURATION_AND_DATA: u64 = 1 << 17 | 1 << 18;
        #[target_feature(enable = "xsave")]
        fn saved() -> u64 {
            // SAFETY: register 0 is there wherever the instruction is.
            unsafe { _xgetbv(0) }
        }
        let has = |features: u32, wanted: u32| features & wanted == wanted;
        has(__cpuid(1).ecx, OSXSAVE)
            && __cpuid(0).eax >= 7
            && has(__cpuid_count(7, 0).edx, AMX_BF16_AND_TILE)
            // SAFETY: a system that uses `xsave`, as `OSXSAVE` says, has a processor that has it.
            && unsafe { saved() } & CONFIGURATION_AND_DATA == CONFIGURATION_AND_DATA
    }

    /// Asks Linux for the registers, for all threads of the program: they take memory in each thread that uses them
    /// (`arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA)`, the kernel's `Documentation/arch/x86/xstate.rst`).
    fn are_permitted() -> bool {
        const ARCH_PRCTL: isize = 158;
        const ARCH_REQ_XCOMP_PERM: usize = 0x1023;
        const XFEATURE_XTILEDATA: usize = 18;
        let result: isize;
        // SAFETY: the call reads and writes no memory of the program; it changes the registers that are named.
        unsafe {
            asm!(
                "syscall",
                inlateout("rax") ARCH_PRCTL => result,
                in("rdi") ARCH_REQ_XCOMP_PERM,
                in("rsi") XFEATURE_XTILEDATA,
                out("rcx") _,
                out("r11") _,
                options(nostack),
            );
        }
        result == 0
    }

    /// How the registers are divided, as `ldtilecfg` takes it.
    #[repr(C, align(64))]
    struct Configuration {
        palette: u8,
        start_row: u8,
        reserved: [u8; 14],
        row_bytes: [u16; 16],
        rows: [u8; 16],
    }

    /// All eight whole.
    static WHOLE: Configuration = Configuration {
        palette: 1,
        start_row: 0,
        reserved: [0; 14],
        row_bytes: [64, 64, 64, 64, 64, 64, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0],
        rows: [16, 16, 16, 16, 16, 16, 16, 16, 0, 0, 0, 0, 0, 0, 0, 0],
    };

    thread_local! {
        /// Whether this thread has divided the registers.
        static IS_DIVIDED: Cell<bool> = const { Cell::new(false) };
    }

    /// That this thread has divided the registers (invariant T1). There is one at most in each.
    pub(crate) struct Tiles {
        /// It stays in its thread.
        of_thread: PhantomData<*const ()>,
    }

    impl Drop for Tiles {
        fn drop(&mut self) {
            // SAFETY: the registers are there, and nobody else in this thread uses them.
            unsafe { asm!("tilerelease", options(nostack, nomem)) };
            IS_DIVIDED.set(false);
        }
    }

    impl Tiles {
        /// Calls `f` with the registers.
        ///
        /// # Panics
        /// If they are not there, or `f` asks for them as well.
        pub(crate) fn with<R>(f: impl FnOnce(&Self) -> R) -> R {
            assert!(are_there() && !IS_DIVIDED.replace(true));
            // SAFETY: the registers are there, and `WHOLE` is one of the divisions that the processor has.
            unsafe { asm!("ldtilecfg [{}]", in(reg) &raw const WHOLE, options(nostack, readonly)) };
            f(&Self { of_thread: PhantomData })
        }

        /// `sums = initial + ` the sum over all steps of the tiles of `left` by those of `right`.
        ///
        /// # Safety
        /// With each step's bytes added to the first element: [`SIDE`] pairs of each row of `left`, and [`SIDE`] rows of
        /// `right`, are valid for reads; so is `initial`, and `sums` for writes; nothing else accesses `sums` meanwhile.
        ///
        /// # Panics
        /// If `left` has another number of rows than a tile or two, or there is no step.
        #[inline]
        pub(crate) unsafe fn add_products(
            &self,
            left: Left,
            right: Right,
            steps: &[Step],
            initial: Initial,
            sums: Sums,
        ) {
            assert!(!steps.is_empty());
            match left.rows {
                // SAFETY: the caller's, and there is a step.
                BLOCK => unsafe { two_by_two(left, right, steps, initial, sums) },
                // SAFETY: as above.
                SIDE => unsafe { one_by_two(left, right, steps, initial, sums) },
                rows => panic!("tiles: {rows} rows"),
            }
        }

        /// Exchanges rows and columns.
        pub(crate) fn transpose(&self, pairs: &mut [[Pair; SIDE]; SIDE]) {
            // SAFETY: machines that have tiles have AVX-512 F.
            unsafe { transpose(pairs) };
        }
    }

    /// [`Tiles::transpose`]: of two by two elements within each quarter of the vectors, then of quarters.
    #[target_feature(enable = "avx512f")]
    fn transpose(pairs: &mut [[Pair; SIDE]; SIDE]) {
        let mut rows = [_mm512_setzero_si512(); SIDE];
        for (row, pairs) in rows.iter_mut().zip(&*pairs) {
            // SAFETY: they are 64 bytes.
            *row = unsafe { _mm512_loadu_si512(pairs.as_ptr().cast()) };
        }
        let mut twos = rows;
        for i in (0..SIDE).step_by(2) {
            twos[i] = _mm512_unpacklo_epi32(rows[i], rows[i + 1]);
            twos[i + 1] = _mm512_unpackhi_epi32(rows[i], rows[i + 1]);
        }
        let mut fours = rows;
        for i in (0..SIDE).step_by(4) {
            for j in 0..2 {
                fours[i + 2 * j] = _mm512_unpacklo_epi64(twos[i + j], twos[i + 2 + j]);
                fours[i + 2 * j + 1] = _mm512_unpackhi_epi64(twos[i + j], twos[i + 2 + j]);
            }
        }
        // Quarter `q` of `fours[4 r + c]` has the elements of rows `4 r ..` in column `4 q + c`.
        for c in 0..4 {
            let even = |first: usize| _mm512_shuffle_i32x4::<0x88>(fours[first + c], fours[first + 4 + c]);
            let odd = |first: usize| _mm512_shuffle_i32x4::<0xdd>(fours[first + c], fours[first + 4 + c]);
            let (even_low, even_high, odd_low, odd_high) = (even(0), even(8), odd(0), odd(8));
            rows[c] = _mm512_shuffle_i32x4::<0x88>(even_low, even_high);
            rows[4 + c] = _mm512_shuffle_i32x4::<0x88>(odd_low, odd_high);
            rows[8 + c] = _mm512_shuffle_i32x4::<0xdd>(even_low, even_high);
            rows[12 + c] = _mm512_shuffle_i32x4::<0xdd>(odd_low, odd_high);
        }
        for (row, pairs) in rows.iter().zip(pairs) {
            // SAFETY: they are 64 bytes.
            unsafe { _mm512_storeu_si512(pairs.as_mut_ptr().cast(), *row) };
        }
    }

    /// [`Tiles::add_products`] of two tiles of rows.
    ///
    /// # Safety
    /// As there, and the thread has divided the registers, and there is a step.
    unsafe fn two_by_two(left: Left, right: Right, steps: &[Step], initial: Initial, sums: Sums) {
        // SAFETY: the caller vouches for the registers (T1) and the elements; it has no other access to `sums`.
        unsafe {
            asm!(
                "lea {x}, [{initial_row} + {initial_row}]",
                "lea {x}, [{initial} + {x} * 8]",
                "tileloadd tmm0, [{initial} + {initial_row}]",
                "tileloadd tmm1, [{initial} + {initial_row} + 64]",
                "tileloadd tmm2, [{x} + {initial_row}]",
                "tileloadd tmm3, [{x} + {initial_row} + 64]",
                "2:",
                "mov {x}, [{step}]",
                "mov {y}, [{step} + 8]",
                "add {x}, {left}",
                "add {y}, {right}",
                "tileloadd tmm6, [{y} + {right_row}]",
                "tileloadd tmm4, [{x} + {left_row}]",
                "tdpbf16ps tmm0, tmm4, tmm6",
                "tileloadd tmm7, [{y} + {right_row} + 64]",
                "tdpbf16ps tmm1, tmm4, tmm7",
                "lea {y}, [{left_row} + {left_row}]",
                "lea {x}, [{x} + {y} * 8]",
                "tileloadd tmm5, [{x} + {left_row}]",
                "tdpbf16ps tmm2, tmm5, tmm6",
                "tdpbf16ps tmm3, tmm5, tmm7",
                "add {step}, 16",
                "cmp {step}, {end}",
                "jne 2b",
                "lea {x}, [{sums_row} + {sums_row}]",
                "lea {x}, [{sums} + {x} * 8]",
                "tilestored [{sums} + {sums_row}], tmm0",
                "tilestored [{sums} + {sums_row} + 64], tmm1",
                "tilestored [{x} + {sums_row}], tmm2",
                "tilestored [{x} + {sums_row} + 64], tmm3",
                step = inout(reg) steps.as_ptr_range().start => _,
                end = in(reg) steps.as_ptr_range().end,
                left = in(reg) left.first,
                left_row = in(reg) left.row_bytes,
                right = in(reg) right.first,
                right_row = in(reg) right.row_bytes,
                initial = in(reg) initial.first,
                initial_row = in(reg) initial.row_bytes,
                sums = in(reg) sums.first,
                sums_row = in(reg) sums.row_bytes,
                x = out(reg) _,
                y = out(reg) _,
                out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                options(nostack),
            );
        }
    }

    /// [`Tiles::add_products`] of one tile of rows.
    ///
    /// # Safety
    /// As for [`two_by_two`].
    unsafe fn one_by_two(left: Left, right: Right, steps: &[Step], initial: Initial, sums: Sums) {
        // SAFETY: as in `two_by_two`.
        unsafe {
            asm!(
                "tileloadd tmm0, [{initial} + {initial_row}]",
                "tileloadd tmm1, [{initial} + {initial_row} + 64]",
                "2:",
                "mov {x}, [{step}]",
                "mov {y}, [{step} + 8]",
                "add {x}, {left}",
                "add {y}, {right}",
                "tileloadd tmm4, [{x} + {left_row}]",
                "tileloadd tmm6, [{y} + {right_row}]",
                "tdpbf16ps tmm0, tmm4, tmm6",
                "tileloadd tmm7, [{y} + {right_row} + 64]",
                "tdpbf16ps tmm1, tmm4, tmm7",
                "add {step}, 16",
                "cmp {step}, {end}",
                "jne 2b",
                "tilestored [{sums} + {sums_row}], tmm0",
                "tilestored [{sums} + {sums_row} + 64], tmm1",
                step = inout(reg) steps.as_ptr_range().start => _,
                end = in(reg) steps.as_ptr_range().end,
                left = in(reg) left.first,
                left_row = in(reg) left.row_bytes,
                right = in(reg) right.first,
                right_row = in(reg) right.row_bytes,
                initial = in(reg) initial.first,
                initial_row = in(reg) initial.row_bytes,
                sums = in(reg) sums.first,
                sums_row = in(reg) sums.row_bytes,
                x = out(reg) _,
                y = out(reg) _,
                out("tmm0") _, out("tmm1") _, out("tmm4") _, out("tmm6") _, out("tmm7") _,
                options(nostack),
            );
        }
    }
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
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

    /// Rows of `row` elements that are whole numbers, so that all sums are exact.
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
