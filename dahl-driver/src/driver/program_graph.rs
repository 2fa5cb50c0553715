//! [`ProgramGraph`]: kernels, fills, copies and calls of libraries with the order between them, which are launched again and
//! again. `GRAPHS.md` says what it is for.

use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cudarc::driver::sys::{
    CUDA_MEMCPY3D, CUDA_MEMSET_NODE_PARAMS, CUgraph, CUgraphExec, CUgraphNode, CUmemorytype,
};

use super::calls;
use super::context::Context;
use super::device::CudaDevice;
use super::error::{CudaError, check};
use super::launches::{Form, KernelParameters, LaunchConfig};
use super::modules::Function;
use super::stream::COMPUTE;

/// A graph of work on a device, or the body of a conditional node of such a graph.
///
/// # Invariant
/// G: `raw` and `nodes` are the driver's until `whole` is dropped.
#[derive(Debug)]
pub struct ProgramGraph {
    raw: CUgraph,
    nodes: Vec<CUgraphNode>,
    /// How many of them are kernels, or calls of libraries.
    kernels: u64,
    whole: Arc<Whole>,
}

// SAFETY: graphs of the driver may be used by any thread, by one at a time: calls hold the lock of the whole graph.
unsafe impl Send for ProgramGraph {}

/// What a graph and the bodies of its conditional nodes have in common.
///
/// # Invariant
/// G: `raw`, and what `executable` has unless it is null, are the driver's until this is dropped.
#[derive(Debug)]
struct Whole {
    raw: CUgraph,
    /// Locked while the driver uses the graph, or a body of it.
    executable: Mutex<Executable>,
    device: Arc<CudaDevice>,
}

/// What the driver has made of a whole graph: null before it is instantiated.
#[derive(Debug)]
pub(super) struct Executable(CUgraphExec);

// SAFETY: as for `ProgramGraph`.
unsafe impl Send for Executable {}
// SAFETY: as for `ProgramGraph`.
unsafe impl Send for Whole {}
// SAFETY: as for `ProgramGraph`.
unsafe impl Sync for Whole {}

/// What a call of a library put into a queue, to be a node of a graph.
///
/// # Invariant
/// G: `raw` is the driver's until this is dropped.
#[derive(Debug)]
pub struct Captured {
    raw: CUgraph,
    context: Arc<Context>,
}

// SAFETY: as for `ProgramGraph`.
unsafe impl Send for Captured {}

impl ProgramGraph {
    /// A graph without nodes.
    pub fn new(device: &Arc<CudaDevice>) -> Result<Self, CudaError> {
        let _entered = device.enter()?;
        let mut raw = ptr::null_mut();
        // SAFETY: room for a graph; 0 is the only flag that exists.
        check("cuGraphCreate", unsafe { calls::cuGraphCreate(&raw mut raw, 0) })?;
        let executable = Mutex::new(Executable(ptr::null_mut()));
        let whole = Arc::new(Whole { raw, executable, device: Arc::clone(device) });
        Ok(Self { raw, nodes: Vec::new(), kernels: 0, whole })
    }

    /// The body of a conditional node of this graph.
    ///
    /// # Safety
    /// `raw` is that body.
    pub(super) unsafe fn body(&self, raw: CUgraph) -> Self {
        Self { raw, nodes: Vec::new(), kernels: 0, whole: Arc::clone(&self.whole) }
    }

    pub(super) fn raw(&self) -> CUgraph {
        self.raw
    }

    pub(super) fn device(&self) -> &Arc<CudaDevice> {
        &self.whole.device
    }

    /// Keeps others from using the whole graph.
    pub(super) fn alone(&self) -> MutexGuard<'_, Executable> {
        self.whole.executable.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a node after others, none of which is there twice. `add` is given room for it, the graph, and those others.
    pub(super) fn add(
        &mut self,
        call: &'static str,
        after: &[usize],
        add: impl FnOnce(&mut CUgraphNode, CUgraph, &[CUgraphNode]) -> super::error::Code,
    ) -> Result<usize, CudaError> {
        let _entered = self.device().enter()?;
        let before: Vec<CUgraphNode> = after.iter().map(|&node| self.nodes[node]).collect();
        let mut node = ptr::null_mut();
        let alone = self.alone();
        check(call, add(&mut node, self.raw, &before))?;
        drop(alone);
        self.nodes.push(node);
        Ok(self.nodes.len() - 1)
    }

    /// Adds a launch of a kernel after other nodes; its number.
    ///
    /// # Safety
    /// The parameters are those of the kernel, of its types, and of each launch of the graph the memory that they lead to has
    /// been [entered](super::allocation::Allocation::enter_compute) before it, and what follows waits for an event behind it.
    pub unsafe fn add_launch(
        &mut self,
        function: Function,
        config: LaunchConfig,
        parameters: KernelParameters<'_>,
        after: &[usize],
    ) -> Result<usize, CudaError> {
        let form = Form::new(function, config);
        self.device().ask_for_shared(&form)?;
        let mut pointers = parameters.pointers();
        let launch = form.node(&mut pointers);
        self.kernels += 1;
        self.add("cuGraphAddKernelNode", after, |node, graph, before| {
            // SAFETY: G; room for a node; so many nodes of the graph; the driver has read the values when the call returns.
            unsafe {
                calls::cuGraphAddKernelNode_v2(node, graph, before.as_ptr(), before.len(), &raw const launch)
            }
        })
    }

    /// Gives a launch other parameters. What has been launched keeps what it had.
    ///
    /// # Safety
    /// As [`add_launch`](Self::add_launch).
    pub unsafe fn set_launch(
        &mut self,
        node: usize,
        function: Function,
        config: LaunchConfig,
        parameters: KernelParameters<'_>,
    ) -> Result<(), CudaError> {
        let _entered = self.device().enter()?;
        let form = Form::new(function, config);
        self.device().ask_for_shared(&form)?;
        let mut pointers = parameters.pointers();
        let launch = form.node(&mut pointers);
        let (executable, node) = (self.alone(), self.nodes[node]);
        // SAFETY: G; the driver has read the values when the call returns.
        let code = unsafe { calls::cuGraphExecKernelNodeSetParams_v2(executable.0, node, &raw const launch) };
        self.device().counts_of_graphs().updated += 1;
        check("cuGraphExecKernelNodeSetParams", code)
    }

    /// Adds a node that writes `word` again and again to `bytes` bytes.
    ///
    /// # Safety
    /// As [`add_launch`](Self::add_launch), of these bytes.
    pub unsafe fn add_set(
        &mut self,
        to: u64,
        bytes: usize,
        word: u32,
        after: &[usize],
    ) -> Result<usize, CudaError> {
        let (size, value) = match bytes % 4 {
            0 => (4, word),
            2 => (2, word & 0xFFFF),
            _ => (1, word & 0xFF),
        };
        let width = bytes / size as usize;
        let set = CUDA_MEMSET_NODE_PARAMS { dst: to, pitch: 0, value, elementSize: size, width, height: 1 };
        let context = self.device().context().raw();
        self.add("cuGraphAddMemsetNode", after, |node, graph, before| {
            // SAFETY: as in `add_launch`.
            unsafe {
                calls::cuGraphAddMemsetNode(
                    node,
                    graph,
                    before.as_ptr(),
                    before.len(),
                    &raw const set,
                    context,
                )
            }
        })
    }

    /// Adds a node that copies bytes from one place on the device to another.
    ///
    /// # Safety
    /// As [`add_launch`](Self::add_launch), of both.
    pub unsafe fn add_copy(
        &mut self,
        to: u64,
        from: u64,
        bytes: usize,
        after: &[usize],
    ) -> Result<usize, CudaError> {
        let (copy, context) = (copy(to, from, bytes), self.device().context().raw());
        self.add("cuGraphAddMemcpyNode", after, |node, graph, before| {
            // SAFETY: as in `add_launch`.
            unsafe {
                calls::cuGraphAddMemcpyNode(
                    node,
                    graph,
                    before.as_ptr(),
                    before.len(),
                    &raw const copy,
                    context,
                )
            }
        })
    }

    /// Lets a copy read and write elsewhere.
    ///
    /// # Safety
    /// As [`add_copy`](Self::add_copy).
    pub unsafe fn set_copy(
        &mut self,
        node: usize,
        to: u64,
        from: u64,
        bytes: usize,
    ) -> Result<(), CudaError> {
        let _entered = self.device().enter()?;
        let (copy, context) = (copy(to, from, bytes), self.device().context().raw());
        let (executable, node) = (self.alone(), self.nodes[node]);
        // SAFETY: G; the driver has read the values when the call returns.
        let code =
            unsafe { calls::cuGraphExecMemcpyNodeSetParams(executable.0, node, &raw const copy, context) };
        check("cuGraphExecMemcpyNodeSetParams", code)
    }

    /// Adds what a call of a library did.
    ///
    /// # Safety
    /// As [`add_launch`](Self::add_launch), of all that the call used.
    pub unsafe fn add_call(&mut self, call: &Captured, after: &[usize]) -> Result<usize, CudaError> {
        self.kernels += 1;
        self.add("cuGraphAddChildGraphNode", after, |node, graph, before| {
            // SAFETY: G of both, of which the driver copies the second; the rest as in `add_launch`.
            unsafe { calls::cuGraphAddChildGraphNode(node, graph, before.as_ptr(), before.len(), call.raw) }
        })
    }

    /// Replaces what a call of a library does by the same call on other arrays.
    ///
    /// # Safety
    /// As [`add_call`](Self::add_call).
    pub unsafe fn set_call(&mut self, node: usize, call: &Captured) -> Result<(), CudaError> {
        let _entered = self.device().enter()?;
        let (executable, node) = (self.alone(), self.nodes[node]);
        // SAFETY: G of both; the driver copies the second.
        let code = unsafe { calls::cuGraphExecChildGraphNodeSetParams(executable.0, node, call.raw) };
        check("cuGraphExecChildGraphNodeSetParams", code)
    }

    /// Makes it ready to be launched, with the bodies of its conditional nodes. They get no more nodes.
    ///
    /// # Panics
    /// If it is a body, or is ready already.
    pub fn instantiate(&mut self) -> Result<(), CudaError> {
        let _entered = self.device().enter()?;
        let is_whole = self.raw == self.whole.raw;
        let mut executable = self.alone();
        assert!(is_whole && executable.0.is_null(), "a graph is made ready once, with its bodies");
        // SAFETY: room for an executable graph; 0 for none of the flags.
        let code = unsafe { calls::cuGraphInstantiateWithFlags(&raw mut executable.0, self.raw, 0) };
        check("cuGraphInstantiate", code)?;
        let mut counts = self.device().counts_of_graphs();
        (counts.instantiated, counts.kept) = (counts.instantiated + 1, counts.kept + 1);
        Ok(())
    }

    /// Puts all of it into the compute stream.
    ///
    /// # Safety
    /// As said when its nodes were added. It is no body, and has been [instantiated](Self::instantiate).
    pub unsafe fn launch(&mut self) -> Result<(), CudaError> {
        // SAFETY: G; the rest is the caller's.
        unsafe { self.device().stream(COMPUTE).launch_graph(self.alone().0) }?;
        let mut counts = self.device().counts_of_graphs();
        (counts.replayed, counts.kernels) = (counts.replayed + 1, counts.kernels + self.kernels);
        Ok(())
    }
}

/// A copy within the memory of the device.
fn copy(to: u64, from: u64, bytes: usize) -> CUDA_MEMCPY3D {
    CUDA_MEMCPY3D {
        srcXInBytes: 0,
        srcY: 0,
        srcZ: 0,
        srcLOD: 0,
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
        srcHost: ptr::null(),
        srcDevice: from,
        srcArray: ptr::null_mut(),
        reserved0: ptr::null_mut(),
        srcPitch: 0,
        srcHeight: 0,
        dstXInBytes: 0,
        dstY: 0,
        dstZ: 0,
        dstLOD: 0,
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
        dstHost: ptr::null_mut(),
        dstDevice: to,
        dstArray: ptr::null_mut(),
        reserved1: ptr::null_mut(),
        dstPitch: 0,
        dstHeight: 0,
        WidthInBytes: bytes,
        Height: 1,
        Depth: 1,
    }
}

impl Drop for Whole {
    fn drop(&mut self) {
        let Ok(_entered) = self.device.enter() else { return };
        let Executable(executable) = self.executable.get_mut().unwrap_or_else(PoisonError::into_inner);
        if !executable.is_null() {
            self.device.counts_of_graphs().kept -= 1;
            // SAFETY: G; what was launched of it still runs.
            unsafe { calls::cuGraphExecDestroy(*executable) };
        }
        // SAFETY: G.
        unsafe { calls::cuGraphDestroy(self.raw) };
    }
}

impl Captured {
    pub(super) fn new(raw: CUgraph, context: &Arc<Context>) -> Self {
        Self { raw, context: Arc::clone(context) }
    }

    pub(super) fn raw(&self) -> CUgraph {
        self.raw
    }

    pub(super) fn context(&self) -> &Context {
        &self.context
    }
}

impl Drop for Captured {
    fn drop(&mut self) {
        if let Ok(_entered) = self.context.enter() {
            // SAFETY: G.
            unsafe { calls::cuGraphDestroy(self.raw) };
        }
    }
}
