//! [`are_there`]: whether the machine has tiles and the program may use them.
#![allow(unsafe_code, reason = "assembly, and an instruction that not all machines have")]

use std::arch::asm;
use std::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv};
use std::env;
use std::sync::OnceLock;

use crate::cpu::bf16_dot;

/// Whether this machine has these registers and lets the program use them. False if `DAHL_SIMD` names a level: no level
/// has them.
pub(crate) fn are_there() -> bool {
    static ARE_THERE: OnceLock<bool> = OnceLock::new();
    *ARE_THERE.get_or_init(|| {
        env::var_os("DAHL_SIMD").is_none() && bf16_dot::is_supported() && are_saved() && are_permitted()
    })
}

/// Whether the processor has AMX-TILE and AMX-BF16, and the system saves the registers at context switches.
fn are_saved() -> bool {
    const OSXSAVE: u32 = 1 << 27;
    const AMX_BF16_AND_TILE: u32 = 1 << 22 | 1 << 24;
    const CONFIGURATION_AND_DATA: u64 = 1 << 17 | 1 << 18;
    #[target_feature(enable = "xsave")]
    fn saved() -> u64 {
        // SAFETY: register 0 exists wherever the instruction does.
        unsafe { _xgetbv(0) }
    }
    let has = |features: u32, wanted: u32| features & wanted == wanted;
    has(__cpuid(1).ecx, OSXSAVE)
        && __cpuid(0).eax >= 7
        && has(__cpuid_count(7, 0).edx, AMX_BF16_AND_TILE)
        // SAFETY: a system that uses `xsave`, as `OSXSAVE` says, runs on a processor that has it.
        && unsafe { saved() } & CONFIGURATION_AND_DATA == CONFIGURATION_AND_DATA
}

/// Asks Linux for permission to use the registers, for all threads of the program: their state takes memory in each
/// thread that uses them (`arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA)`, the kernel's
/// `Documentation/arch/x86/xstate.rst`).
fn are_permitted() -> bool {
    const ARCH_PRCTL: isize = 158;
    const ARCH_REQ_XCOMP_PERM: usize = 0x1023;
    const XFEATURE_XTILEDATA: usize = 18;
    let result: isize;
    // SAFETY: the call reads and writes no memory of the program; it changes the named registers.
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
