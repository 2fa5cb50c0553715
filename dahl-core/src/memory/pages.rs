//! Pages: [`give_back`] lets the system use them for something else, and [`resident`] counts those that are in use.

/// Gives the whole pages of these bytes back to the system. The bytes stay reserved; those of the pages are zero then, and the
/// others as they were. Where that cannot be done, nothing happens.
///
/// # Safety
/// The bytes are of one allocation, and nothing else uses them or relies on their values.
#[cfg(all(target_os = "linux", not(miri)))]
pub(crate) unsafe fn give_back(bytes: *mut [u8]) {
    use rustix::mm::{Advice, madvise};
    let page = rustix::param::page_size();
    let start = bytes.cast::<u8>();
    let before = start.align_offset(page);
    let Some(whole) = bytes.len().checked_sub(before).map(|rest| rest - rest % page).filter(|len| *len > 0)
    else {
        return;
    };
    // The kernel refuses pages that are locked: they stay as they are. SAFETY: whole pages within the bytes, of which nobody
    // relies on the values (guaranteed by the caller). They stay mapped and initialised: private pages of no file, as those of
    // the allocator and of this crate, are zero at the next access, and others have the content of their file.
    _ = unsafe { madvise(start.wrapping_add(before).cast(), whole, Advice::LinuxDontNeed) };
}

/// Does nothing here.
///
/// # Safety
/// None is needed.
#[cfg(not(all(target_os = "linux", not(miri))))]
pub(crate) unsafe fn give_back(bytes: *mut [u8]) {
    let _ = bytes;
}

/// How many of these bytes are in pages that the system keeps for them, in memory or swapped out. None if the system does not say
/// so. Nothing is read at the addresses.
pub(crate) fn resident(bytes: *const [u8]) -> Option<usize> {
    resident_by_page(bytes.cast::<u8>().addr(), bytes.len())
}

#[cfg(all(target_os = "linux", not(miri)))]
fn resident_by_page(start: usize, len: usize) -> Option<usize> {
    use std::io::{Read as _, Seek as _, SeekFrom};
    /// The bits of a page that is in memory, or swapped out (`proc_pid_pagemap(5)`).
    const PRESENT: u64 = 0b11 << 62;
    /// Entries that are read at a time.
    const ENTRIES: usize = 512;
    let (page, end) = (rustix::param::page_size(), start.checked_add(len)?);
    let mut table = std::fs::File::open("/proc/self/pagemap").ok()?;
    let pages = start / page..end.div_ceil(page);
    table.seek(SeekFrom::Start(pages.start as u64 * 8)).ok()?;
    let (mut count, mut entries) = (0, [0; 8 * ENTRIES]);
    for first in pages.clone().step_by(ENTRIES) {
        let numbers = first..pages.end.min(first + ENTRIES);
        let entries = &mut entries[..8 * numbers.len()];
        table.read_exact(entries).ok()?;
        for (number, entry) in numbers.zip(entries.as_chunks::<8>().0) {
            if u64::from_ne_bytes(*entry) & PRESENT != 0 {
                count += end.min((number + 1) * page) - start.max(number * page);
            }
        }
    }
    Some(count)
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn resident_by_page(_start: usize, _len: usize) -> Option<usize> {
    None
}

#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests {
    use super::{give_back, resident};

    #[test]
    fn whole_pages_are_zero_and_what_is_around_them_stays() {
        let page = rustix::param::page_size();
        let mut bytes = vec![7_u8; 20 * page];
        let (from, to) = (page + 100, 18 * page + 50);
        let part: *mut [u8] = &raw mut bytes[from..to];
        let before = resident(part);
        // SAFETY: nothing else uses them.
        unsafe { give_back(part) };
        if let (Some(before), Some(after)) = (before, resident(part)) {
            assert_eq!(before, to - from, "all were written");
            // At most a page at either end is used for other bytes, too.
            assert!(after < 2 * page, "{after} bytes");
        }
        let first = bytes.as_ptr().addr();
        let whole = |index: usize| {
            let begin = (first + index) / page * page;
            begin >= first + from && begin + page <= first + to
        };
        for (index, &byte) in bytes.iter().enumerate() {
            assert_eq!(byte, if whole(index) { 0 } else { 7 }, "byte {index}");
        }
        let short: *mut [u8] = &raw mut bytes[..8];
        // SAFETY: as above.
        unsafe { give_back(short) };
        assert_eq!(bytes[..8], [7; 8]);
    }
}
