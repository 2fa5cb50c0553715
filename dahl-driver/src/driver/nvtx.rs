//! NVTX: names for what a thread does, which profilers such as Nsight Systems show beside a device's work.

use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_int};
use std::marker::PhantomData;
use std::sync::OnceLock;

use libloading::Library;

type Push = unsafe extern "C" fn(*const c_char) -> c_int;
type Pop = unsafe extern "C" fn() -> c_int;

/// The library that profilers bring or replace; none if nobody watches.
///
/// # Invariant
/// V: the functions are those of `nvToolsExt.h`, of a library that stays loaded.
struct Nvtx {
    push: Push,
    pop: Pop,
}

/// The name of what this thread does, until it is dropped.
#[derive(Debug)]
pub struct Range(PhantomData<*const ()>);

/// The names that a thread has used, ending in zero.
#[derive(Debug, Default)]
pub struct Names(HashMap<&'static str, CString>);

impl Names {
    /// Names what this thread does from now on, if a profiler can hear of it.
    pub fn enter(&mut self, name: &'static str) -> Option<Range> {
        let nvtx = library()?;
        let text = |name: &'static str| CString::new(name).unwrap_or_else(|_| CString::from(c"a task"));
        let name: &CStr = self.0.entry(name).or_insert_with_key(|&name| text(name));
        // SAFETY: V; the text ends in zero, and is copied.
        unsafe { (nvtx.push)(name.as_ptr()) };
        Some(Range(PhantomData))
    }
}

impl Drop for Range {
    fn drop(&mut self) {
        if let Some(nvtx) = library() {
            // SAFETY: V; it ends the range that was begun last on this thread, which is this one: values of the type stay on it,
            // one within another.
            unsafe { (nvtx.pop)() };
        }
    }
}

fn library() -> Option<&'static Nvtx> {
    static LIBRARY: OnceLock<Option<Nvtx>> = OnceLock::new();
    LIBRARY.get_or_init(load).as_ref()
}

fn load() -> Option<Nvtx> {
    // SAFETY: a library of CUDA's, whose initialisation has no requirements.
    let library = unsafe { Library::new("libnvToolsExt.so.1") }.ok()?;
    // SAFETY: the function has this type.
    let push = unsafe { library.get::<Push>(b"nvtxRangePushA\0") }.map(|push| *push).ok()?;
    // SAFETY: as above.
    let pop = unsafe { library.get::<Pop>(b"nvtxRangePop\0") }.map(|pop| *pop).ok()?;
    std::mem::forget(library);
    Some(Nvtx { push, pop })
}
