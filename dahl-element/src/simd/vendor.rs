//! [`vendor()`]: the vendor of the processor, for choices that were measured to be faster on some processors and that
//! no feature flag tells.

/// The maker of an x86-64 processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vendor {
    /// Intel.
    Intel,
    /// AMD.
    Amd,
    /// Another one, or it is not an x86-64 processor.
    Other,
}

/// The maker of this machine's processor; determined in the first call.
#[cfg(target_arch = "x86_64")]
pub fn vendor() -> Vendor {
    static VENDOR: std::sync::LazyLock<Vendor> = std::sync::LazyLock::new(|| {
        let answer = std::arch::x86_64::__cpuid(0);
        let name = [answer.ebx, answer.edx, answer.ecx].map(u32::to_le_bytes);
        match name.as_flattened() {
            b"GenuineIntel" => Vendor::Intel,
            b"AuthenticAMD" => Vendor::Amd,
            _ => Vendor::Other,
        }
    });
    *VENDOR
}

/// The maker of this machine's processor.
#[cfg(not(target_arch = "x86_64"))]
pub fn vendor() -> Vendor {
    Vendor::Other
}
