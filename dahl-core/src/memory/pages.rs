//! [`give_back`]: pages that the system may use for something else.

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
    // relies on the values (guaranteed by the caller). They are memory of the allocator or mapped by this crate: private, of
    // no file, and so zero at the next access.
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

#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests {
    use super::give_back;

    #[test]
    fn whole_pages_are_zero_and_what_is_around_them_stays() {
        let page = rustix::param::page_size();
        let mut bytes = vec![7_u8; 20 * page];
        let (from, to) = (page + 100, 18 * page + 50);
        let part: *mut [u8] = &raw mut bytes[from..to];
        // SAFETY: nothing else uses them.
        unsafe { give_back(part) };
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
