//! [`CKernel`]: a kernel in C as `dahl-build` describes it to Rust, and how a worker calls it.
//!
//! The build script of a crate compiles `kernels/*.c` and writes one constant for each file.
//! [`include_kernels!`](crate::include_kernels) includes these constants, and `cpu = [kernels::DOT_C]` names one. Two
//! checks compare the declaration with the C code. [`CKernel::check`] does so at compile time, for the author of both.
//! The views do so at run time, and the soundness of a call rests on that: element types, access modes and sizes are
//! those of the C code.
//!
//! Not here: reading C (`dahl-build`).
#![allow(unsafe_code, reason = "calls functions of C")]

use std::ffi::c_void;

use arrayvec::ArrayVec;

use super::sentence::equal;
use super::{Kernel, Views};
use crate::access::AccessMode;
use crate::argument::DeclaredArgument;
use crate::element::{Element, ElementType};
use crate::shape::MAX_RANK;

mod mismatch;

/// The most arrays of a kernel in C. `dahl-build` refuses more.
const MAX_VIEWS: usize = 16;

/// A kernel in C. `dahl-build` writes constants of this type, named after their files: `kernels::DOT_C`.
#[derive(Debug)]
pub struct CKernel {
    name: &'static str,
    function_name: &'static str,
    place: &'static str,
    views: &'static [CView],
    arguments: &'static [CArgument],
    f32: Option<CFunction>,
    f64: Option<CFunction>,
}

/// How a C kernel takes one array (`dahl.h` has the types).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CView {
    /// `dahl_in`: read, with extents and strides.
    In,
    /// `dahl_out`: written, with extents and strides.
    Out,
    /// `dahl_in_slice`: read, contiguous.
    InSlice,
    /// `dahl_out_slice`: written, contiguous.
    OutSlice,
}

/// How a C kernel takes one plain argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as the types of Rust")]
pub enum CArgument {
    /// `DAHL_REAL`: the element type of the arrays.
    Real,
    F32,
    F64,
    U8,
    U16,
    U32,
    U64,
    Usize,
    I8,
    I16,
    I32,
    I64,
    Isize,
    Bool,
}

/// The type of the functions that `dahl-build` generates around kernels in C: views in order, arguments encoded in
/// order.
pub type CFunction = unsafe extern "C" fn(views: *const RawView, arguments: *const u8);

/// `dahl_raw_view` of `dahl.h`: an array as C receives it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct RawView {
    data: *mut c_void,
    rank: usize,
    extents: *const usize,
    strides: *const isize,
}

/// A kernel in C for one element type, as stored in [`Kernel`].
#[derive(Clone, Copy)]
pub(super) struct CEntry {
    function: CFunction,
    views: &'static [CView],
    arguments: &'static [CArgument],
    element: ElementType,
}

impl CKernel {
    /// A kernel called `name` (`dot_c`), of the C function `function_name` defined at `place` (`kernels/dot.c:12`).
    ///
    /// # Safety
    /// - `f32` and `f64` read one view for each of `views`, and one argument for each of `arguments`, of these types,
    ///   and of elements of the type that they are named after;
    /// - they write only to views that are `Out` or `OutSlice`, and stay within extents and strides;
    /// - `views` are at most 16.
    pub const unsafe fn new(
        (name, function_name, place): (&'static str, &'static str, &'static str),
        views: &'static [CView],
        arguments: &'static [CArgument],
        f32: Option<CFunction>,
        f64: Option<CFunction>,
    ) -> Self {
        assert!(views.len() <= MAX_VIEWS);
        Self { name, function_name, place, views, arguments, f32, f64 }
    }

    /// The name, as in performance models: `dot_c`.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The kernel for arrays of `T`; none if the kernel has no version for this type.
    pub const fn kernel<T: Element>(&self) -> Option<Kernel> {
        let name = T::NAME.as_bytes();
        let (function, element) = if equal(name, b"f32") {
            (self.f32, ElementType::of::<f32>())
        } else if equal(name, b"f64") {
            (self.f64, ElementType::of::<f64>())
        } else {
            return None;
        };
        match function {
            Some(function) => {
                let entry = CEntry { function, views: self.views, arguments: self.arguments, element };
                Some(Kernel::c(self.name, entry))
            }
            None => None,
        }
    }

    /// Stops compilation if the kernel does not match a codelet: its modes, and, as written in the declaration, the
    /// element types of its arrays and the types of its arguments. `#[codelet]` calls it.
    ///
    /// # Panics
    /// If it does not match: at compile time, since it is called in a constant.
    #[track_caller]
    pub const fn check(
        &self,
        codelet: &str,
        modes: &[AccessMode],
        elements: &[&str],
        arguments: &[DeclaredArgument<'_>],
    ) {
        mismatch::check(self, codelet, modes, elements, arguments);
    }
}

impl CView {
    /// Whether the kernel writes to it.
    const fn writes(self) -> bool {
        matches!(self, Self::Out | Self::OutSlice)
    }

    /// Whether the kernel requires it to be contiguous.
    pub(crate) const fn is_slice(self) -> bool {
        matches!(self, Self::InSlice | Self::OutSlice)
    }
}

impl CArgument {
    /// The type in Rust; `DAHL_REAL` for the element type.
    const fn name(self) -> &'static str {
        match self {
            Self::Real => "DAHL_REAL",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::Usize => "usize",
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::Isize => "isize",
            Self::Bool => "bool",
        }
    }

    const fn size_bytes(self, real: ElementType) -> usize {
        match self {
            Self::Real => real.size_bytes,
            Self::U8 | Self::I8 | Self::Bool => 1,
            Self::U16 | Self::I16 => 2,
            Self::F32 | Self::U32 | Self::I32 => 4,
            Self::F64 | Self::U64 | Self::I64 => 8,
            Self::Usize | Self::Isize => size_of::<usize>(),
        }
    }
}

impl CEntry {
    /// How it takes its arrays, in order.
    pub(super) fn views(self) -> &'static [CView] {
        self.views
    }

    /// Calls the C function on a task's views.
    ///
    /// # Panics
    /// If the views or arguments are not those of the C function. [`CKernel::check`] reports that at compile time,
    /// unless an alias hides a type from it.
    pub(super) fn call(&self, views: &mut Views<'_>) {
        assert_eq!(views.parameters_left(), self.views.len(), "the C kernel takes another number of arrays");
        // Filled completely before pointers are taken: after that, elements of the `ArrayVec` do not move.
        let mut strides = ArrayVec::<ArrayVec<isize, MAX_RANK>, MAX_VIEWS>::new();
        let mut arrays = ArrayVec::<_, MAX_VIEWS>::new();
        for view in self.views {
            let (start, layout) = views.take_raw(self.element, view.writes(), view.is_slice());
            strides.push(layout.strides());
            arrays.push((start, layout));
        }
        let raw: ArrayVec<RawView, MAX_VIEWS> = arrays
            .iter()
            .zip(&strides)
            .map(|((start, layout), strides)| RawView {
                data: start.cast(),
                rank: layout.rank(),
                extents: layout.extents().as_ptr(),
                strides: strides.as_ptr(),
            })
            .collect();
        let arguments = views.arguments_left();
        let size_bytes: usize = self.arguments.iter().map(|argument| argument.size_bytes(self.element)).sum();
        assert_eq!(arguments.len(), size_bytes, "the C kernel takes other arguments");
        // SAFETY:
        // - the function reads as many views of these elements and as many bytes: `CKernel::new`, checked above.
        // - each view spans initialised elements that are the task's, exclusively where C writes: invariant V of
        //   `Operand`, and `take_raw` checked the mode. Slices are contiguous: packed where they are not.
        // - `strides` and the layouts outlive the call.
        unsafe { (self.function)(raw.as_ptr(), arguments.as_ptr()) };
    }
}

/// Includes the table that `dahl_build::kernels(..)` wrote in the build script: a module `kernels` with one
/// [`CKernel`](crate::CKernel) for each C file, `kernels::DOT_C` for `kernels/dot.c`.
///
/// ```ignore
/// dahl::include_kernels!();
///
/// #[codelet(R, R, REDUX, shape(out = []), cpu = [kernels::DOT_C])]
/// pub fn dot<T: Real>(x: &[T], y: &[T], out: &mut [T::Compute]) { .. }
/// ```
#[macro_export]
macro_rules! include_kernels {
    () => {
        /// The C kernels of this crate.
        #[allow(dead_code, unreachable_pub)]
        pub(crate) mod kernels {
            #[allow(unused_imports)]
            use $crate::__private as dahl_private;
            include!(concat!(
                env!(
                    "OUT_DIR",
                    "include_kernels!() needs a build.rs that calls dahl_build::kernels(\"kernels\")"
                ),
                "/kernels.rs"
            ));
        }
    };
}
