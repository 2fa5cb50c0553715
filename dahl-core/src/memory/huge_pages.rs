//! [`HugePages`]: memory of a large block, in pages of 2 MiB.
//!
//! A core's TLB has entries for a few dozen pages. A large matrix that is read column by column, or many planes, need
//! more pages of 4 KiB than that. The hardware prefetcher also stops at the end of a page. Linux provides huge pages,
//! if it has any, for memory that requests them before it is touched.
//!
//! The block is mapped, and not taken from the allocator. The allocator would also count and clear the bytes that are
//! only there so that the block can begin at the start of a huge page.

use std::ptr::NonNull;

/// The size of a huge page. (With small pages of 16 or 64 KiB, Linux has larger huge pages: requesting them then has no
/// effect for most blocks.)
pub(super) const HUGE_PAGE_BYTES: usize = 2 << 20;

/// Mapped memory that begins at a multiple of [`HUGE_PAGE_BYTES`], zero at first.
#[derive(Debug)]
#[cfg_attr(not(all(target_os = "linux", not(miri))), allow(dead_code, reason = "nothing is mapped there"))]
pub(super) struct HugePages {
    start: NonNull<u8>,
    /// The mapped bytes.
    bytes: usize,
}

impl HugePages {
    pub(super) fn start(&self) -> NonNull<u8> {
        self.start
    }
}

#[cfg(all(target_os = "linux", not(miri)))]
mod mapped {
    use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

    use super::*;

    /// The largest size of Linux's small pages.
    const SMALL_PAGE_BYTES: usize = 64 << 10;

    impl HugePages {
        /// Memory of at least `bytes` bytes; none if it cannot be mapped. The rest that does not fill a huge page is in
        /// small pages: no more memory is taken than requested.
        pub(in crate::memory) fn map(bytes: usize) -> Option<Self> {
            let bytes = bytes.checked_next_multiple_of(SMALL_PAGE_BYTES)?;
            let spacious = bytes.checked_add(HUGE_PAGE_BYTES)?;
            let access = ProtFlags::READ | ProtFlags::WRITE;
            // SAFETY: at no given address, so the mapping is new and nothing else uses it.
            let mapped = unsafe { mmap_anonymous(std::ptr::null_mut(), spacious, access, MapFlags::PRIVATE) };
            let mapped = mapped.ok()?.cast::<u8>();
            let before = mapped.align_offset(HUGE_PAGE_BYTES);
            let start = NonNull::new(mapped.wrapping_add(before))?;
            // SAFETY: whole pages that were mapped above; nothing else knows of them.
            unsafe { unmap(mapped, before) };
            // SAFETY: as above. `bytes` is whole pages.
            unsafe { unmap(start.as_ptr().wrapping_add(bytes), HUGE_PAGE_BYTES - before) };
            let whole = bytes - bytes % HUGE_PAGE_BYTES;
            // A kernel without huge pages returns an error: pages are then small, as without the advice. SAFETY: the
            // advice does not change the content of the pages.
            _ = unsafe { madvise(start.as_ptr().cast(), whole, Advice::LinuxHugepage) };
            Some(Self { start, bytes })
        }
    }

    impl Drop for HugePages {
        fn drop(&mut self) {
            // SAFETY: this is the rest of the mapping by `map`, and only its owner uses it.
            unsafe { unmap(self.start.as_ptr(), self.bytes) };
        }
    }

    /// # Safety
    /// The `bytes` bytes from `start` on are whole pages that were mapped, and nothing uses them any more.
    unsafe fn unmap(start: *mut u8, bytes: usize) {
        if bytes > 0 {
            // It fails only if it would split a mapping and the kernel has reached its limit of mappings: all of it
            // then stays mapped. SAFETY: guaranteed by the caller.
            _ = unsafe { munmap(start.cast(), bytes) };
        }
    }
}

#[cfg(not(all(target_os = "linux", not(miri))))]
impl HugePages {
    /// None on this system.
    pub(super) fn map(_bytes: usize) -> Option<Self> {
        None
    }
}

#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests {
    use super::*;

    /// The kernel's flags of the memory at an address (`VmFlags` in `proc_pid_smaps(5)`).
    fn flags_at(address: usize) -> String {
        let maps = std::fs::read_to_string("/proc/self/smaps").expect("Linux has it");
        let mut is_there = false;
        for line in maps.lines() {
            let range = line.split(' ').next().and_then(|range| range.split_once('-'));
            if let Some((begin, end)) = range {
                let [begin, end] =
                    [begin, end].map(|bound| usize::from_str_radix(bound, 16).expect("a number"));
                is_there = (begin..end).contains(&address);
            } else if let Some(flags) = line.strip_prefix("VmFlags:").filter(|_| is_there) {
                return flags.to_owned();
            }
        }
        panic!("nothing is at {address:x}");
    }

    fn is_asked_for(address: usize) -> bool {
        flags_at(address).split_whitespace().any(|flag| flag == "hg")
    }

    fn has_huge_pages() -> bool {
        std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists()
    }

    #[test]
    fn whole_huge_pages_are_asked_for_and_zero() {
        for bytes in [HUGE_PAGE_BYTES, 2 * HUGE_PAGE_BYTES + 4096] {
            let pages = HugePages::map(bytes).expect("there is memory");
            let start = pages.start().addr().get();
            assert!(start.is_multiple_of(HUGE_PAGE_BYTES));
            let end = start + bytes - bytes % HUGE_PAGE_BYTES;
            assert!(!has_huge_pages() || is_asked_for(start) && is_asked_for(end - 1));
            // SAFETY: they are mapped, and only this test uses them.
            let all = unsafe { std::slice::from_raw_parts_mut(pages.start().as_ptr(), bytes) };
            assert!(all.iter().all(|&byte| byte == 0));
            all.fill(1);
            assert!(bytes == end - start || !is_asked_for(end));
        }
    }
}
