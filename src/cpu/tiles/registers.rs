//! [`Tiles`]: the registers of a thread, and the assembly that uses them.
#![allow(unsafe_code, reason = "assembly")]

use std::arch::asm;
use std::cell::Cell;
use std::marker::PhantomData;

use super::transpose::transpose;
use super::{BLOCK, Initial, Left, Right, SIDE, Step, Sums, are_there};
use crate::cpu::bf16_dot::Pair;

/// The configuration of the registers, in the form that `ldtilecfg` reads.
#[repr(C, align(64))]
struct Configuration {
    palette: u8,
    start_row: u8,
    reserved: [u8; 14],
    row_bytes: [u16; 16],
    rows: [u8; 16],
}

/// All eight at full size.
static WHOLE: Configuration = Configuration {
    palette: 1,
    start_row: 0,
    reserved: [0; 14],
    row_bytes: [64, 64, 64, 64, 64, 64, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0],
    rows: [16, 16, 16, 16, 16, 16, 16, 16, 0, 0, 0, 0, 0, 0, 0, 0],
};

thread_local! {
    /// Whether this thread has configured the registers.
    static IS_DIVIDED: Cell<bool> = const { Cell::new(false) };
}

/// Proof that this thread has configured the registers (invariant T1). Each thread has one at most.
pub(crate) struct Tiles {
    /// It must stay in its thread.
    of_thread: PhantomData<*const ()>,
}

impl Drop for Tiles {
    fn drop(&mut self) {
        // SAFETY: the machine has the registers, and nothing else in this thread uses them.
        unsafe { asm!("tilerelease", options(nostack, nomem)) };
        IS_DIVIDED.set(false);
    }
}

impl Tiles {
    /// Calls `f` with the registers configured.
    ///
    /// # Panics
    /// If the machine does not have them, or `f` calls this too.
    pub(crate) fn with<R>(f: impl FnOnce(&Self) -> R) -> R {
        assert!(are_there() && !IS_DIVIDED.replace(true));
        // SAFETY: the machine has the registers, and `WHOLE` is a configuration that it supports.
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
    /// If the number of rows of `left` is not that of a tile or two, or there is no step.
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
            // SAFETY: the caller guarantees the elements; `self` proves that the registers are configured (T1), and
            // there is a step.
            BLOCK => unsafe { two_by_two(left, right, steps, initial, sums) },
            // SAFETY: as above.
            SIDE => unsafe { one_by_two(left, right, steps, initial, sums) },
            rows => panic!("tiles: {rows} rows"),
        }
    }

    /// Transposes a square of pairs.
    pub(crate) fn transpose(&self, pairs: &mut [[Pair; SIDE]; SIDE]) {
        // SAFETY: machines that have tiles have AVX-512 F.
        unsafe { transpose(pairs) };
    }
}

/// [`Tiles::add_products`] of two tiles of rows.
///
/// # Safety
/// As for [`Tiles::add_products`]; also, the thread has configured the registers, and there is a step.
unsafe fn two_by_two(left: Left, right: Right, steps: &[Step], initial: Initial, sums: Sums) {
    // SAFETY:
    // - the registers are configured (T1), each with 16 rows of 64 bytes.
    // - the code loads 16 such rows, `row_bytes` apart, of each factor where a step says, and of `initial`; the second
    //   tile of rows is 16 rows further. It stores those of `sums`, which nothing else accesses: the caller's
    //   obligation.
    // - all registers that change are named, and the stack is not touched.
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
