//! Conditional nodes of a [`ProgramGraph`]: bodies that run if, or as long as, an element on the device is not zero.

use std::mem::{self, MaybeUninit};
use std::ptr;

use cudarc::driver::sys::{
    CUDA_CONDITIONAL_NODE_PARAMS, CUgraphConditionalNodeType, CUgraphNodeParams, CUgraphNodeType,
};
use dahl_cuda::CudaImage;

use super::calls;
use super::device::CudaDevice;
use super::error::{CudaError, check};
use super::launches::{KernelParameters, LaunchConfig};
use super::library;
use super::modules::{Function, Unloaded};
use super::program_graph::{Captured, ProgramGraph};

/// The kernel that sets handles: `condition.cu`.
static KERNEL: CudaImage = CudaImage::Text(include_str!("condition.ptx"));

/// A value of a graph that [`add_condition`](ProgramGraph::add_condition) sets, and on which one conditional node depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle(u64);

/// When the body of a conditional node runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    /// Once, if the value is true.
    No,
    /// As long as the value is true.
    Yes,
}

/// What sets handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Where the element is.
    pub address: u64,
    /// Its bytes, 8 at most.
    pub bytes: usize,
    /// The condition holds if one of these bits is set.
    pub bits: u64,
    /// Where the addresses of words are, and how many. If one of the words has a bit that is not set, no handle is set to true.
    pub failures: (u64, usize),
    /// The handle that is set to whether the condition holds.
    pub then: Option<Handle>,
    /// The handle that is set to the contrary.
    pub otherwise: Option<Handle>,
}

/// The parameters of the kernel.
const STARTS: [usize; 6] = [0, 3, 6, 7, 8, 9];
const ONE_THREAD: LaunchConfig = LaunchConfig { grid: [1; 3], block: [1; 3], shared_bytes: 0 };

impl Condition {
    /// The values of the kernel's parameters, of which two are views of one axis.
    fn words(&self) -> [u64; 10] {
        let of = |handle: Option<Handle>| handle.map_or(0, |Handle(handle)| handle);
        let sets = u64::from(self.then.is_some()) | u64::from(self.otherwise.is_some()) << 1;
        let (failures, count) = (self.failures.0, self.failures.1 as u64);
        let bytes = self.bytes as u64;
        [self.address, bytes, 1, failures, count, 1, self.bits, of(self.then), of(self.otherwise), sets]
    }
}

impl CudaDevice {
    /// Whether graphs have conditional nodes; if not, why.
    pub fn conditional_nodes(&self) -> Result<(), String> {
        library::has_conditional_nodes()
    }

    /// The kernel that sets handles.
    pub fn condition_kernel(&self) -> Result<Function, Unloaded> {
        self.function(&KERNEL, "condition")
    }
}

impl ProgramGraph {
    /// A handle for one conditional node of this graph.
    pub fn add_handle(&mut self) -> Result<Handle, CudaError> {
        let (graph, context) = (self.raw(), self.device().context().raw());
        let _entered = self.device().enter()?;
        let mut handle = 0;
        let _alone = self.alone();
        // SAFETY: G; room for a handle; 0 for no value at the beginning of each launch.
        let code = unsafe { calls::cuGraphConditionalHandleCreate(&raw mut handle, graph, context, 0, 0) };
        check("cuGraphConditionalHandleCreate", code)?;
        Ok(Handle(handle))
    }

    /// Adds a kernel that sets handles, of this graph or of one that this one is a body of; its node.
    ///
    /// # Safety
    /// `kernel` is the [condition kernel](CudaDevice::condition_kernel) of the device. The element, and the words with their
    /// addresses, are as [`add_launch`](Self::add_launch) says; the words may also be the host's that kernels reach by the same
    /// address.
    pub unsafe fn add_condition(
        &mut self,
        kernel: Function,
        condition: &Condition,
        after: &[usize],
    ) -> Result<usize, CudaError> {
        let words = condition.words();
        let parameters = KernelParameters { words: &words, starts: &STARTS };
        // SAFETY: the parameters are those of `condition.cu`; the rest is the caller's.
        unsafe { self.add_launch(kernel, ONE_THREAD, parameters, after) }
    }

    /// Lets a kernel that sets handles look elsewhere.
    ///
    /// # Safety
    /// As [`add_condition`](Self::add_condition).
    pub unsafe fn set_condition(
        &mut self,
        node: usize,
        kernel: Function,
        condition: &Condition,
    ) -> Result<(), CudaError> {
        let words = condition.words();
        let parameters = KernelParameters { words: &words, starts: &STARTS };
        // SAFETY: as in `add_condition`.
        unsafe { self.set_launch(node, kernel, ONE_THREAD, parameters) }
    }

    /// Adds a node that runs another graph depending on a handle; the node, and that graph, which has no nodes yet.
    ///
    /// A body's nodes are launches, fills, copies within the device, [calls](Captured::unfit_for_body) of libraries, and
    /// conditional nodes.
    pub fn add_body(
        &mut self,
        handle: Handle,
        repeats: Repeats,
        after: &[usize],
    ) -> Result<(usize, Self), CudaError> {
        // SAFETY: zeros are what is reserved, and the union has integers.
        let mut what: CUgraphNodeParams = unsafe { mem::zeroed() };
        what.type_ = CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL;
        what.__bindgen_anon_1.conditional = CUDA_CONDITIONAL_NODE_PARAMS {
            handle: handle.0,
            type_: match repeats {
                Repeats::No => CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_IF,
                Repeats::Yes => CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_WHILE,
            },
            size: 1,
            phGraph_out: ptr::null_mut(),
            ctx: self.device().context().raw(),
        };
        let node = self.add("cuGraphAddNode", after, |node, graph, before| {
            let (what, edges, count) = (&raw mut what, ptr::null(), before.len());
            // SAFETY: G; room for a node; so many nodes of the graph; the driver writes where the bodies are.
            unsafe { calls::cuGraphAddNode_v2(node, graph, before.as_ptr(), edges, count, what) }
        })?;
        // SAFETY: it is what was set above, into which the driver has written where the bodies are.
        let bodies = unsafe { what.__bindgen_anon_1.conditional.phGraph_out };
        // SAFETY: there is one.
        let raw = unsafe { *bodies };
        // SAFETY: the driver has made it for the node, and it exists as long as that does.
        let body = unsafe { self.body(raw) };
        Ok((node, body))
    }
}

impl Captured {
    /// The kind of a node that a body of a conditional node must not have, if there is one.
    pub fn unfit_for_body(&self) -> Result<Option<&'static str>, CudaError> {
        let _entered = self.context().enter()?;
        let mut count = 0;
        // SAFETY: G; room for a number.
        let code = unsafe { calls::cuGraphGetNodes(self.raw(), ptr::null_mut(), &raw mut count) };
        check("cuGraphGetNodes", code)?;
        let mut nodes = vec![ptr::null_mut(); count];
        // SAFETY: G; room for so many nodes.
        let code = unsafe { calls::cuGraphGetNodes(self.raw(), nodes.as_mut_ptr(), &raw mut count) };
        check("cuGraphGetNodes", code)?;
        for node in nodes {
            // A newer driver may have kinds that the type lacks.
            let mut kind = MaybeUninit::<u32>::zeroed();
            // SAFETY: G; room for a number, which is what the type is.
            let code = unsafe { calls::cuGraphNodeGetType(node, kind.as_mut_ptr().cast()) };
            check("cuGraphNodeGetType", code)?;
            // SAFETY: zeros are a number.
            if let Some(kind) = unfit(unsafe { kind.assume_init() }) {
                return Ok(Some(kind));
            }
        }
        Ok(None)
    }
}

/// What a kind of node is called that a body must not have. A graph in a graph is not looked into.
fn unfit(kind: u32) -> Option<&'static str> {
    use CUgraphNodeType::{
        CU_GRAPH_NODE_TYPE_EMPTY, CU_GRAPH_NODE_TYPE_GRAPH, CU_GRAPH_NODE_TYPE_HOST,
        CU_GRAPH_NODE_TYPE_KERNEL, CU_GRAPH_NODE_TYPE_MEM_ALLOC, CU_GRAPH_NODE_TYPE_MEM_FREE,
        CU_GRAPH_NODE_TYPE_MEMCPY, CU_GRAPH_NODE_TYPE_MEMSET,
    };
    let is = |known: CUgraphNodeType| kind == known as u32;
    match kind {
        _ if is(CU_GRAPH_NODE_TYPE_KERNEL) || is(CU_GRAPH_NODE_TYPE_EMPTY) => None,
        _ if is(CU_GRAPH_NODE_TYPE_MEMCPY) || is(CU_GRAPH_NODE_TYPE_MEMSET) => None,
        _ if is(CU_GRAPH_NODE_TYPE_HOST) => Some("a call of a function of the host"),
        _ if is(CU_GRAPH_NODE_TYPE_GRAPH) => Some("a graph"),
        _ if is(CU_GRAPH_NODE_TYPE_MEM_ALLOC) || is(CU_GRAPH_NODE_TYPE_MEM_FREE) => {
            Some("an allocation of memory")
        }
        _ => Some("a wait or a signal"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever changes the kernel compiles it anew, and then writes this hash into the first line.
    #[test]
    fn the_compiled_kernel_is_that_of_the_source() {
        let source = include_bytes!("condition.cu");
        let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        let hash = source.iter().fold(0xcbf2_9ce4_8422_2325, mix);
        let CudaImage::Text(ptx) = KERNEL else { panic!("it is a text") };
        let first = ptx.lines().next().unwrap_or_default();
        assert_eq!(first, format!("// FNV-1a of condition.cu: {hash:016x}"));
    }

    #[test]
    fn the_parameters_are_those_of_the_kernel() {
        let condition = Condition {
            address: 64,
            bytes: 4,
            bits: 7,
            failures: (128, 2),
            then: Some(Handle(5)),
            otherwise: None,
        };
        assert_eq!(condition.words(), [64, 4, 1, 128, 2, 1, 7, 5, 0, 1]);
        let both = Condition { otherwise: Some(Handle(6)), ..condition };
        assert_eq!(both.words()[7..], [5, 6, 3]);
        // Two views of three words each, and four numbers.
        let parameter = |number: usize, kind: &str| format!("\t.param {kind}condition_param_{number}");
        let CudaImage::Text(ptx) = KERNEL else { panic!("it is a text") };
        for (number, &start) in STARTS.iter().enumerate() {
            let bytes = 8 * (STARTS.get(number + 1).unwrap_or(&10) - start);
            let found = match bytes {
                8 => ptx.contains(&parameter(number, ".u64 ")),
                _ => ptx.contains(&format!("{}[{bytes}]", parameter(number, ".align 8 .b8 "))),
            };
            assert!(found, "parameter {number} has {bytes} bytes");
        }
    }

    #[test]
    fn bodies_have_what_cuda_allows() {
        // `CUgraphNodeType` of cuda.h: kernel, memcpy, memset, host, graph, empty, wait, record, semaphores, allocations.
        let allowed: Vec<u32> = (0..32).filter(|&kind| unfit(kind).is_none()).collect();
        assert_eq!(allowed, [0, 1, 2, 5]);
    }
}
