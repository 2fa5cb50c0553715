//! [`ask_for`]: large blocks in pages of 2 MiB.
//!
//! A core keeps the places of a few dozen pages at hand, and looks others up. Of small pages, 4 KiB each, there are more
//! than that in a large matrix whose columns are gone through, or in many planes; and what it fetches ahead ends with a
//! page. Linux gives huge pages to those who ask for them, when they are first touched, if it has any.

/// Where a block begins that is to lie in huge pages, and the least bytes of one.
pub(super) const HUGE_PAGE_BYTES: usize = 2 << 20;

/// Asks for huge pages for `bytes` bytes from `start` on, a multiple of [`HUGE_PAGE_BYTES`]. What is behind the last
/// whole one stays in small pages: a block takes no more memory than it has bytes.
#[cfg(all(target_os = "linux", not(miri)))]
pub(super) fn ask_for(start: *mut u8, bytes: usize) {
    use rustix::mm::{Advice, madvise};

    debug_assert!(start.addr().is_multiple_of(HUGE_PAGE_BYTES));
    let whole = bytes - bytes % HUGE_PAGE_BYTES;
    // A kernel that has no huge pages says so: then pages are small, as without asking.
    // SAFETY: what is read at the addresses is the same with this advice.
    _ = unsafe { madvise(start.cast(), whole, Advice::LinuxHugepage) };
}

#[cfg(not(all(target_os = "linux", not(miri))))]
pub(super) fn ask_for(_start: *mut u8, _bytes: usize) {}

#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests {
    use std::panic::Location;
    use std::sync::Arc;

    use super::*;
    use crate::memory::{Block, Holder, MemoryNode};

    /// What the kernel says of the memory at an address: its flags (`VmFlags` in `proc_pid_smaps(5)`).
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
    fn large_blocks_are_zero_and_in_huge_pages() {
        let node = Arc::new(MemoryNode::new(None));
        let holder = Holder::new("test", Location::caller());
        let mut block = Block::zeroed(&node, 2 * HUGE_PAGE_BYTES + 4096, holder).expect("there is memory");
        let (start, bytes) = (block.pointer().addr(), block.bytes());
        assert!(start.is_multiple_of(HUGE_PAGE_BYTES));
        assert!(!has_huge_pages() || is_asked_for(start) && is_asked_for(start + 2 * HUGE_PAGE_BYTES - 1));
        assert!(block.first_bytes_mut(bytes).iter().all(|&byte| byte == 0));
    }

    #[test]
    fn what_does_not_fill_a_huge_page_stays_in_small_ones() {
        use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

        let (bytes, access) = (4 * HUGE_PAGE_BYTES, ProtFlags::READ | ProtFlags::WRITE);
        // SAFETY: memory of its own, that only this function knows of.
        let mapped = unsafe { mmap_anonymous(std::ptr::null_mut(), bytes, access, MapFlags::PRIVATE) };
        let mapped = mapped.expect("there is memory");
        let start = mapped.cast::<u8>().wrapping_add(mapped.cast::<u8>().align_offset(HUGE_PAGE_BYTES));
        ask_for(start, 2 * HUGE_PAGE_BYTES + 4096);
        let end = start.addr() + 2 * HUGE_PAGE_BYTES;
        let asked_for = [end - 1, end].map(is_asked_for);
        assert_eq!(asked_for, [has_huge_pages(), false]);
        // SAFETY: it was mapped above, and nothing looks at it any more.
        unsafe { munmap(mapped, bytes) }.expect("it was mapped");
    }
}
