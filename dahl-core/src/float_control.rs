//! [`FloatControl`]: how a thread rounds, and whether it takes subnormal numbers to be zeros.
//!
//! A thread starts with what the thread has that starts it, and a library can change it for the whole thread (with
//! `-ffast-math` a library written in C may do so as it is loaded). All tasks run with [`FloatControl::STANDARD`]: workers
//! set it when they start, and the host for the time in which it runs tasks. Checked mode finds kernels that change it.
#![allow(unsafe_code, reason = "reads and writes the control register of floating-point arithmetic")]

use std::fmt;

/// The control bits of floating-point arithmetic: of MXCSR on x86-64, of FPCR on aarch64.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FloatControl(u64);

#[cfg(target_arch = "x86_64")]
mod register {
    use std::arch::asm;

    /// Rounds to nearest, keeps subnormal numbers, all exceptions masked.
    pub(super) const STANDARD: u64 = 0x1f80;
    /// Results that are subnormal become zeros; operands are taken as zeros.
    pub(super) const ZEROS: u64 = 0x8040;
    pub(super) const ROUNDING: u64 = 0x6000;
    /// The lower bits say which exceptions have occurred, and are nobody's setting.
    const FLAGS: u32 = 0x3f;

    fn mxcsr() -> u32 {
        let mut word = 0_u32;
        // SAFETY: it writes the register to `word`, four bytes that are borrowed for change.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut word, options(nostack, preserves_flags)) };
        word
    }

    pub(super) fn read() -> u64 {
        u64::from(mxcsr() & !FLAGS)
    }

    pub(super) fn write(control: u64) {
        let word = mxcsr() & FLAGS | control as u32;
        // SAFETY: it reads four bytes; no reserved bit is set, since `control` is one that was read or `STANDARD`.
        unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const word, options(nostack, preserves_flags)) };
    }
}

#[cfg(target_arch = "aarch64")]
mod register {
    use std::arch::asm;

    pub(super) const STANDARD: u64 = 0;
    pub(super) const ZEROS: u64 = 1 << 24 | 1 << 19;
    pub(super) const ROUNDING: u64 = 3 << 22;

    pub(super) fn read() -> u64 {
        let control;
        // SAFETY: reading the register has no effect.
        unsafe { asm!("mrs {}, fpcr", out(reg) control, options(nomem, nostack, preserves_flags)) };
        control
    }

    pub(super) fn write(control: u64) {
        // SAFETY: `control` is one that was read or `STANDARD`.
        unsafe { asm!("msr fpcr, {}", in(reg) control, options(nomem, nostack, preserves_flags)) };
    }
}

/// A machine whose register dahl does not know.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod register {
    pub(super) const STANDARD: u64 = 0;
    pub(super) const ZEROS: u64 = 0;
    pub(super) const ROUNDING: u64 = 0;

    pub(super) fn read() -> u64 {
        STANDARD
    }

    pub(super) fn write(_: u64) {}
}

impl FloatControl {
    /// IEEE 754's default: rounds to nearest, keeps subnormal numbers, and no exception is a trap.
    pub(crate) const STANDARD: Self = Self(register::STANDARD);

    /// That of this thread.
    #[inline]
    pub(crate) fn current() -> Self {
        Self(register::read())
    }

    /// Makes it that of this thread.
    pub(crate) fn set(self) {
        register::write(self.0);
    }

    /// Sets the standard one until the guard is dropped, which restores what was there.
    #[inline]
    pub(crate) fn standard_meanwhile() -> impl Drop {
        /// What to restore, if it is another one.
        struct Restores(Option<FloatControl>);
        impl Drop for Restores {
            #[inline]
            fn drop(&mut self) {
                if let Some(before) = self.0 {
                    before.set();
                }
            }
        }
        let before = Some(Self::current()).filter(|control| *control != Self::STANDARD);
        if before.is_some() {
            Self::STANDARD.set();
        }
        Restores(before)
    }

    /// Whether a kernel has left this thread with another one than the standard one, which is restored.
    pub(crate) fn restore_after_kernel() -> Option<Self> {
        let control = Self::current();
        (control != Self::STANDARD).then(|| {
            Self::STANDARD.set();
            control
        })
    }
}

impl fmt::Display for FloatControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let changed = self.0 ^ register::STANDARD;
        let is = |bits: u64| changed & bits != 0;
        match (is(register::ZEROS), is(register::ROUNDING)) {
            (true, true) => f.write_str("subnormal numbers are zeros, and the rounding mode is another"),
            (true, false) => f.write_str("subnormal numbers are zeros"),
            (false, true) => f.write_str("the rounding mode is another"),
            (false, false) => write!(f, "the control register is {:#x}", self.0),
        }
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use std::hint::black_box;

    use super::FloatControl;

    #[test]
    fn the_state_of_a_thread_is_put_aside_and_restored() {
        let zeros = FloatControl(FloatControl::STANDARD.0 | 0x8040);
        let tiny = || black_box(1e-39_f32) * black_box(1.0);
        zeros.set();
        assert_eq!(tiny(), 0.0);
        {
            let _standard = FloatControl::standard_meanwhile();
            assert!(tiny() > 0.0);
        }
        assert_eq!(FloatControl::current(), zeros);
        let found = FloatControl::restore_after_kernel().expect("it is not the standard one");
        assert_eq!(found.to_string(), "subnormal numbers are zeros");
        assert_eq!(FloatControl::restore_after_kernel(), None);
        assert!(tiny() > 0.0);
    }
}
