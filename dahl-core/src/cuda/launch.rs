//! [`CudaLaunches`]: the grids, blocks and memory of a task's launches, computed from its extents and arguments.

use super::element;
use super::kernel::CudaInstance;
use super::step::Values;

/// Everything that running a kernel in CUDA on one task needs besides its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CudaLaunches {
    /// Bytes of device memory that all launches share.
    pub scratch_bytes: u64,
    /// One after the other.
    pub launches: Vec<CudaLaunch>,
}

/// One launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CudaLaunch {
    /// The entry point in the kernel's image: `sum_axis_f32`.
    pub entry: String,
    /// Blocks. If one of the numbers is 0, nothing is to be launched.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block.
    pub shared_bytes: u32,
}

/// The most blocks along each axis of a grid.
const MAX_GRID: [u64; 3] = [0x7fff_ffff, 65_535, 65_535];

impl CudaInstance {
    /// The launches for a task on arrays of these shapes, with its arguments encoded one after the other.
    ///
    /// # Errors
    /// A sentence that names the kernel and what has no value: an extent along an axis that an array does not have, a grid that is too large.
    ///
    /// # Panics
    /// If there are other arrays or arguments than the kernel takes.
    pub fn launches(&self, shapes: &[&[usize]], arguments: &[u8]) -> Result<CudaLaunches, String> {
        let kernel = self.kernel;
        assert_eq!(shapes.len(), kernel.views.len(), "`{}` takes another number of arrays", kernel.name);
        let encoded = self.arguments(arguments);
        let values = Values { shapes, types: self.types, arguments: kernel.arguments, encoded: &encoded };
        let about = |what: &str, fact: String| {
            format!("CUDA kernel `{}` ({}): {what}: {fact}", kernel.name, kernel.place)
        };
        let evaluate = |what: &str, steps| values.evaluate(steps).map_err(|fact| about(what, fact));
        let mut launches = Vec::new();
        for pass in kernel.passes {
            let mut grid = [0; 3];
            for (axis, (blocks, steps)) in grid.iter_mut().zip(pass.grid).enumerate() {
                let value = evaluate("grid", steps)?;
                let fits = u32::try_from(value).ok().filter(|_| value <= MAX_GRID[axis]);
                *blocks = fits.ok_or_else(|| {
                    let letter = ["x", "y", "z"][axis];
                    about(
                        "grid",
                        format!("{value} blocks along {letter}, and at most {} are possible", MAX_GRID[axis]),
                    )
                })?;
            }
            let shared = evaluate("shared", pass.shared_bytes)?;
            let shared_bytes =
                u32::try_from(shared).map_err(|_| about("shared", format!("{shared} bytes")))?;
            launches.push(CudaLaunch {
                entry: self.entry(pass.function),
                grid,
                block: pass.block,
                shared_bytes,
            });
        }
        Ok(CudaLaunches { scratch_bytes: evaluate("scratch", kernel.scratch_bytes)?, launches })
    }

    /// The encoding of each argument, from those that follow each other in a task.
    ///
    /// # Panics
    /// If there are other arguments than the kernel takes.
    pub fn arguments<'e>(&self, encoded: &'e [u8]) -> Vec<&'e [u8]> {
        element::split(self.kernel.arguments, self.types, encoded)
    }

    /// The entry points of all passes.
    pub(crate) fn entries(self) -> impl Iterator<Item = String> {
        self.kernel.passes.iter().map(move |pass| self.entry(pass.function))
    }

    /// The entry point of a pass: `sum_axis_f32`.
    fn entry(&self, function: &str) -> String {
        self.types.iter().fold(function.to_owned(), |entry, element| entry + "_" + element.name)
    }
}
