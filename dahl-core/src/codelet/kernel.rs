//! [`Kernel`]: one implementation of a codelet.

use std::any::Any;
use std::fmt;

use super::c_kernel::{CEntry, CView};
use super::views::Views;
use crate::cuda::{CudaEntry, CudaLibrary};

/// The kernel of every codelet with a kernel in CUDA, which is launched.
pub(crate) static CUDA: Kernel = Kernel::on_cuda("cuda", KernelFunction::Launch);

/// One implementation of a codelet.
#[derive(Clone, Copy)]
pub struct Kernel {
    name: &'static str,
    entry: KernelFunction,
    cores: Cores,
    /// Whether it gives the same bits as the codelet's first kernel.
    equal: bool,
    /// For a kernel that calls a library: whether the codelet's own kernel takes precedence.
    last: bool,
}

#[derive(Clone, Copy)]
enum KernelFunction {
    Rust(fn(&mut Views<'_>)),
    C(CEntry),
    /// Several maps.
    Fused(&'static dyn Maps),
    /// On a device: launches the kernel in `Codelet::cuda`.
    Launch,
    /// On a device: a function that calls a library, which must be available if dahl knows it.
    Call(CudaEntry, Option<CudaLibrary>),
}

/// Several maps that run as one kernel.
pub(super) trait Maps: Any + Sync {
    /// Runs them on the operands of `views`.
    fn run(&self, views: &mut Views<'_>);
}

/// How a kernel uses several cores. It gives the same bits for any number of them.
#[derive(Clone, Copy)]
enum Cores {
    /// It does not.
    One,
    /// With rayon's functions, in its only entry.
    Several,
    /// In another entry, which gives the same bits.
    Either(fn(&mut Views<'_>)),
}

impl Kernel {
    /// A kernel in Rust, which takes its views from [`Views`].
    pub const fn new(name: &'static str, entry: fn(&mut Views<'_>)) -> Self {
        Self { name, entry: KernelFunction::Rust(entry), cores: Cores::One, equal: false, last: false }
    }

    /// A kernel that runs several maps.
    pub(super) const fn fused(maps: &'static dyn Maps) -> Self {
        Self {
            name: "fused",
            entry: KernelFunction::Fused(maps),
            cores: Cores::One,
            equal: false,
            last: false,
        }
    }

    /// What it runs, if that is several maps and this type.
    pub(super) fn maps<M: Any>(&self) -> Option<&'static M> {
        match self.entry {
            KernelFunction::Fused(maps) => (maps as &dyn Any).downcast_ref(),
            _ => None,
        }
    }

    /// A kernel in C, from a [`CKernel`](super::CKernel).
    pub(super) const fn c(name: &'static str, entry: CEntry) -> Self {
        Self { name, entry: KernelFunction::C(entry), cores: Cores::One, equal: false, last: false }
    }

    /// A kernel on CUDA devices that calls `library`; `None` for a library that dahl does not load.
    pub const fn call(name: &'static str, library: Option<CudaLibrary>, entry: CudaEntry) -> Self {
        Self::on_cuda(name, KernelFunction::Call(entry, library))
    }

    const fn on_cuda(name: &'static str, entry: KernelFunction) -> Self {
        Self { name, entry, cores: Cores::One, equal: false, last: false }
    }

    /// Declares that the kernel uses several cores with rayon's functions, and gives the same bits for any number of
    /// them.
    pub const fn parallel(mut self) -> Self {
        self.cores = Cores::Several;
        self
    }

    /// Adds an entry that uses several cores, with the same bits.
    pub const fn parallel_entry(mut self, entry: fn(&mut Views<'_>)) -> Self {
        self.cores = Cores::Either(entry);
        self
    }

    /// Declares that the kernel gives the same bits as the codelet's first one.
    pub const fn equal(mut self) -> Self {
        self.equal = true;
        self
    }

    /// [`equal`](Self::equal), for a kernel that exists for some element types.
    pub const fn equal_if_any(kernel: Option<Self>) -> Option<Self> {
        match kernel {
            Some(kernel) => Some(kernel.equal()),
            None => None,
        }
    }

    /// The name, as in performance models.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Whether it uses several cores by itself.
    pub const fn is_parallel(&self) -> bool {
        !matches!(self.cores, Cores::One)
    }

    /// Whether it calls rayon's functions, with or without a team.
    pub(crate) const fn makes_jobs(&self, team: bool) -> bool {
        match self.cores {
            Cores::One => false,
            Cores::Several => true,
            Cores::Either(_) => team,
        }
    }

    /// Declares that the codelet's own kernel in CUDA takes precedence.
    pub const fn last(mut self) -> Self {
        self.last = true;
        self
    }

    /// Whether the codelet's own kernel in CUDA takes precedence.
    pub(crate) fn comes_last(&self) -> bool {
        self.last
    }

    /// Whether it gives the same bits as the codelet's first kernel.
    pub const fn is_equal(&self) -> bool {
        self.equal
    }

    /// How a kernel in C takes its arrays; none for one in Rust.
    pub(crate) fn c_views(&self) -> Option<&'static [CView]> {
        match self.entry {
            KernelFunction::C(entry) => Some(entry.views()),
            KernelFunction::Rust(_)
            | KernelFunction::Fused(_)
            | KernelFunction::Launch
            | KernelFunction::Call(..) => None,
        }
    }

    /// Whether it runs on CUDA devices, not on CPUs.
    pub(crate) fn is_on_cuda(&self) -> bool {
        matches!(self.entry, KernelFunction::Launch | KernelFunction::Call(..))
    }

    /// The function that calls a library, if it is such a kernel.
    #[cfg_attr(
        any(dahl_fuzz, not(feature = "cuda")),
        expect(dead_code, reason = "there are no such devices")
    )]
    pub(crate) fn cuda_entry(&self) -> Option<CudaEntry> {
        match self.entry {
            KernelFunction::Call(entry, _) => Some(entry),
            _ => None,
        }
    }

    /// The library that must be available.
    pub(crate) fn library(&self) -> Option<CudaLibrary> {
        match self.entry {
            KernelFunction::Call(_, library) => library,
            _ => None,
        }
    }

    /// Runs the kernel on its views, with its parallel entry if `team` and if it has one.
    pub(crate) fn run(&self, views: &mut Views<'_>, team: bool) {
        match (self.cores, self.entry) {
            (Cores::Either(entry), _) if team => entry(views),
            (_, KernelFunction::Rust(entry)) => entry(views),
            (_, KernelFunction::C(entry)) => entry.call(views),
            (_, KernelFunction::Fused(maps)) => maps.run(views),
            (_, KernelFunction::Launch | KernelFunction::Call(..)) => {
                panic!("`{}` runs on CUDA devices, of which none is left", self.name)
            }
        }
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Kernel").field(&self.name).finish()
    }
}
