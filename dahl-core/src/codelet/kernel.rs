//! [`Kernel`]: one implementation of a codelet.

use std::fmt;

use super::c_kernel::{CEntry, CView};
use super::views::Views;
use crate::cuda::{CudaEntry, CudaLibrary};

/// The kernel of every codelet that has one in CUDA, which is launched.
pub(crate) static CUDA: Kernel = Kernel::on_cuda("cuda", KernelFunction::Launch);

/// One implementation of a codelet.
#[derive(Clone, Copy)]
pub struct Kernel {
    name: &'static str,
    entry: KernelFunction,
    cores: Cores,
    /// Whether it promises the bits of the codelet's first kernel.
    equal: bool,
    /// Whether it comes after the codelet's own kernel: of one that calls a library.
    last: bool,
}

#[derive(Clone, Copy)]
enum KernelFunction {
    Rust(fn(&mut Views<'_>)),
    C(CEntry),
    /// On a device: what `Codelet::cuda` describes is launched.
    Launch,
    /// On a device: a function that calls a library, which has to be there if dahl knows it.
    Call(CudaEntry, Option<CudaLibrary>),
}

/// How a kernel uses several cores. It gives the same bits for any number of them.
#[derive(Clone, Copy)]
enum Cores {
    /// It does not.
    One,
    /// By rayon's functions, in its one entry.
    Several,
    /// By another entry, which gives the same bits.
    Either(fn(&mut Views<'_>)),
}

impl Kernel {
    /// A kernel in Rust, which takes its views from [`Views`].
    pub const fn new(name: &'static str, entry: fn(&mut Views<'_>)) -> Self {
        Self { name, entry: KernelFunction::Rust(entry), cores: Cores::One, equal: false, last: false }
    }

    /// A kernel in C, of a [`CKernel`](super::CKernel).
    pub(super) const fn c(name: &'static str, entry: CEntry) -> Self {
        Self { name, entry: KernelFunction::C(entry), cores: Cores::One, equal: false, last: false }
    }

    /// A kernel on CUDA devices that calls `library`; nothing for one that dahl does not load.
    pub const fn call(name: &'static str, library: Option<CudaLibrary>, entry: CudaEntry) -> Self {
        Self::on_cuda(name, KernelFunction::Call(entry, library))
    }

    const fn on_cuda(name: &'static str, entry: KernelFunction) -> Self {
        Self { name, entry, cores: Cores::One, equal: false, last: false }
    }

    /// Says that the kernel uses several cores by rayon's functions, and gives the same bits for any number of them.
    pub const fn parallel(mut self) -> Self {
        self.cores = Cores::Several;
        self
    }

    /// Adds an entry that uses several cores, with the same bits.
    pub const fn parallel_entry(mut self, entry: fn(&mut Views<'_>)) -> Self {
        self.cores = Cores::Either(entry);
        self
    }

    /// Says that the kernel gives the same bits as the codelet's first one.
    pub const fn equal(mut self) -> Self {
        self.equal = true;
        self
    }

    /// [`equal`](Self::equal), of a kernel that exists for some element types.
    pub const fn equal_if_any(kernel: Option<Self>) -> Option<Self> {
        match kernel {
            Some(kernel) => Some(kernel.equal()),
            None => None,
        }
    }

    /// The name, which performance models show.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Whether it can use several cores.
    pub const fn is_parallel(&self) -> bool {
        !matches!(self.cores, Cores::One)
    }

    /// Whether it calls rayon's functions, with a team or without.
    pub(crate) const fn makes_jobs(&self, team: bool) -> bool {
        match self.cores {
            Cores::One => false,
            Cores::Several => true,
            Cores::Either(_) => team,
        }
    }

    /// Says that it comes after the codelet's own kernel in CUDA.
    pub const fn last(mut self) -> Self {
        self.last = true;
        self
    }

    /// Whether it comes after the codelet's own kernel in CUDA.
    pub(crate) fn comes_last(&self) -> bool {
        self.last
    }

    /// Whether it promises the bits of the codelet's first kernel.
    pub const fn is_equal(&self) -> bool {
        self.equal
    }

    /// How a kernel in C takes its arrays; nothing for one in Rust.
    pub(crate) fn c_views(&self) -> Option<&'static [CView]> {
        match self.entry {
            KernelFunction::C(entry) => Some(entry.views()),
            KernelFunction::Rust(_) | KernelFunction::Launch | KernelFunction::Call(..) => None,
        }
    }

    /// Whether it runs on CUDA devices, and not on CPUs.
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

    /// The library that has to be there.
    pub(crate) fn library(&self) -> Option<CudaLibrary> {
        match self.entry {
            KernelFunction::Call(_, library) => library,
            _ => None,
        }
    }

    /// Runs the kernel on its views, by its parallel entry if `team` holds and there is one.
    pub(crate) fn run(&self, views: &mut Views<'_>, team: bool) {
        match (self.cores, self.entry) {
            (Cores::Either(entry), _) if team => entry(views),
            (_, KernelFunction::Rust(entry)) => entry(views),
            (_, KernelFunction::C(entry)) => entry.call(views),
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
