//! Conditional nodes of graphs, whose values dahl's kernel sets.
#![allow(unsafe_code, reason = "calls the driver")]

mod program;

use std::ffi::c_void;
use std::ptr::{from_mut, null, null_mut};
use std::sync::Arc;

use cudarc::driver::sys::CUgraphConditionalNodeType::{
    self as Kind, CU_GRAPH_COND_TYPE_IF as IF, CU_GRAPH_COND_TYPE_SWITCH as SWITCH,
    CU_GRAPH_COND_TYPE_WHILE as WHILE,
};
use cudarc::driver::{
    CudaContext, CudaFunction, CudaSlice, CudaStream, DevicePtr, DevicePtrMut, DriverError, sys,
};
use cudarc::nvrtc::Ptx;
use program::{N, calls, in_seeds, is_scaled, module, numbers, on_device, with};

const PTX: &str = include_str!("../../../dahl-driver/src/driver/condition.ptx");

/// The bits of a float without its sign.
const MAGNITUDE: u64 = 0x7FFF_FFFF;

type Graph = sys::CUgraph;
type Node = sys::CUgraphNode;

/// A device with kernels, and arrays for them: a condition, and `y`, which becomes a multiple of the numbers.
struct Bed {
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    condition: CudaFunction,
    scale_add: CudaFunction,
    one: CudaSlice<f32>,
    element: CudaSlice<f32>,
    x: CudaSlice<f32>,
    y: CudaSlice<f32>,
}

impl Bed {
    fn new(element: f32) -> Self {
        let (context, stream) = on_device(0);
        // SAFETY: one stream orders everything.
        unsafe { context.disable_event_tracking() };
        let condition = context.load_module(Ptx::from_src(PTX)).unwrap().load_function("condition").unwrap();
        Self {
            condition,
            scale_add: module(&stream).load_function("plain_scale_add").unwrap(),
            one: stream.clone_htod(&[1.0]).unwrap(),
            element: stream.clone_htod(&[element]).unwrap(),
            x: stream.clone_htod(&numbers()).unwrap(),
            y: stream.alloc_zeros(N).unwrap(),
            context,
            stream,
        }
    }

    fn graph(&self) -> Graph {
        let mut graph = null_mut();
        // SAFETY: room for a graph.
        unsafe { sys::cuGraphCreate(&mut graph, 0) }.result().unwrap();
        graph
    }

    fn handle(&self, graph: Graph) -> Result<u64, DriverError> {
        let (mut handle, context) = (0, self.context.cu_ctx());
        // SAFETY: room for a handle of a graph that is there.
        unsafe { sys::cuGraphConditionalHandleCreate(&mut handle, graph, context, 0, 0) }.result()?;
        Ok(handle)
    }

    fn launch(
        &self,
        graph: Graph,
        function: &CudaFunction,
        values: &mut [*mut c_void],
        after: &[Node],
    ) -> Node {
        let mut node = null_mut();
        let launch = sys::CUDA_KERNEL_NODE_PARAMS {
            func: function.cu_function(),
            gridDimX: 1,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: 1,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: 0,
            kernelParams: values.as_mut_ptr(),
            extra: null_mut(),
            kern: null_mut(),
            ctx: null_mut(),
        };
        // SAFETY: the values are those of the kernel, which the driver reads now.
        unsafe { sys::cuGraphAddKernelNode_v2(&mut node, graph, after.as_ptr(), after.len(), &launch) }
            .result()
            .unwrap();
        node
    }

    /// Sets `then` to whether the condition holds, and `otherwise` to the contrary.
    fn decide(&self, graph: Graph, then: u64, otherwise: Option<u64>, after: &[Node]) -> Node {
        let mut element = [self.element.device_ptr(&self.stream).0, 4, 1];
        let mut failures = [0_u64, 0, 1];
        let sets = if otherwise.is_some() { 3 } else { 1 };
        let mut words = [MAGNITUDE, then, otherwise.unwrap_or(0), sets];
        let mut values = vec![from_mut(&mut element).cast(), from_mut(&mut failures).cast()];
        values.extend(words.iter_mut().map(|word| from_mut(word).cast::<c_void>()));
        self.launch(graph, &self.condition, &mut values, after)
    }

    /// `to += factor from`, of `count` elements.
    fn add_scaled(
        &self,
        graph: Graph,
        (mut from, mut to): (u64, u64),
        values: (f32, usize),
        after: &[Node],
    ) -> Node {
        let (mut factor, mut count) = values;
        let mut values = [
            from_mut(&mut from).cast(),
            from_mut(&mut to).cast(),
            from_mut(&mut factor).cast(),
            from_mut(&mut count).cast(),
        ];
        self.launch(graph, &self.scale_add, &mut values, after)
    }

    /// `y += factor x`
    fn add(&mut self, graph: Graph, factor: f32, after: &[Node]) -> Node {
        let (from, to) = (self.x.device_ptr(&self.stream).0, self.y.device_ptr_mut(&self.stream).0);
        self.add_scaled(graph, (from, to), (factor, N), after)
    }

    /// `element -= 1`
    fn count_down(&mut self, graph: Graph, after: &[Node]) -> Node {
        let (from, to) = (self.one.device_ptr(&self.stream).0, self.element.device_ptr_mut(&self.stream).0);
        self.add_scaled(graph, (from, to), (-1.0, 1), after)
    }

    fn conditional(
        &self,
        graph: Graph,
        handle: u64,
        (type_, size): (Kind, u32),
        after: &[Node],
    ) -> Result<(Node, Vec<Graph>), DriverError> {
        // SAFETY: zeros are allowed in what is reserved.
        let mut what: sys::CUgraphNodeParams = unsafe { std::mem::zeroed() };
        what.type_ = sys::CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL;
        let ctx = self.context.cu_ctx();
        what.__bindgen_anon_1.conditional =
            sys::CUDA_CONDITIONAL_NODE_PARAMS { handle, type_, size, phGraph_out: null_mut(), ctx };
        let mut node = null_mut();
        let (nodes, count) = (after.as_ptr(), after.len());
        // SAFETY: room for a node; so many nodes of the graph; the driver writes where the bodies are.
        unsafe { sys::cuGraphAddNode_v2(&mut node, graph, nodes, null(), count, &mut what) }.result()?;
        // SAFETY: what was set above, into which the driver has written where the bodies are.
        let bodies = unsafe { what.__bindgen_anon_1.conditional.phGraph_out };
        // SAFETY: so many graphs, which the driver has made.
        let bodies = unsafe { std::slice::from_raw_parts(bodies, size as usize) };
        Ok((node, bodies.to_vec()))
    }

    fn instantiate(&self, graph: Graph) -> Result<sys::CUgraphExec, DriverError> {
        let mut exec = null_mut();
        // SAFETY: room for an executable graph.
        unsafe { sys::cuGraphInstantiateWithFlags(&mut exec, graph, 0) }.result()?;
        Ok(exec)
    }

    /// Launches a graph, which is then gone.
    fn run(&self, graph: Graph) -> Result<(), DriverError> {
        let exec = self.instantiate(graph)?;
        // SAFETY: it is executable; what it uses stays until the stream has come there.
        unsafe { sys::cuGraphLaunch(exec, self.stream.cu_stream()) }.result()?;
        // SAFETY: they are there, and what runs keeps what it needs.
        unsafe { sys::cuGraphExecDestroy(exec) }.result()?;
        // SAFETY: as above.
        unsafe { sys::cuGraphDestroy(graph) }.result()?;
        self.stream.synchronize()
    }

    /// Whether `y` is the numbers times `factor`.
    fn has(&self, factor: f32) -> bool {
        is_scaled(&self.stream.clone_dtoh(&self.y).unwrap(), factor)
    }
}

#[test]
fn a_loop_runs_as_long_as_its_condition_holds_without_the_host() {
    for rounds in [0, 1, 7] {
        in_seeds("", |_| {
            let mut bed = Bed::new(rounds as f32);
            let graph = bed.graph();
            let handle = bed.handle(graph).unwrap();
            let decided = bed.decide(graph, handle, None, &[]);
            let (node, bodies) = bed.conditional(graph, handle, (WHILE, 1), &[decided]).unwrap();
            bed.add(bodies[0], 1.0, &[]);
            let counted = bed.count_down(bodies[0], &[]);
            bed.decide(bodies[0], handle, None, &[counted]);
            bed.add(graph, 0.5, &[node]);
            let launches = calls("launch");
            bed.run(graph).unwrap();
            assert!(bed.has(rounds as f32 + 0.5));
            assert_eq!((calls("body"), calls("launch") - launches), (rounds, 1));
        });
    }
}

#[test]
fn one_body_of_a_branch_runs_and_a_float_holds_unless_it_is_a_zero() {
    for (element, holds) in [(f32::NAN, true), (f32::MIN_POSITIVE / 2.0, true), (0.0, false), (-0.0, false)] {
        in_seeds("", |_| {
            let mut bed = Bed::new(element);
            let graph = bed.graph();
            let (then, otherwise) = (bed.handle(graph).unwrap(), bed.handle(graph).unwrap());
            let decided = bed.decide(graph, then, Some(otherwise), &[]);
            let (first, of_then) = bed.conditional(graph, then, (IF, 1), &[decided]).unwrap();
            let (_, of_otherwise) = bed.conditional(graph, otherwise, (IF, 1), &[first]).unwrap();
            bed.add(of_then[0], 2.0, &[]);
            bed.add(of_otherwise[0], 3.0, &[]);
            bed.run(graph).unwrap();
            assert!(bed.has(if holds { 2.0 } else { 3.0 }), "{element}");
        });
    }
}

#[test]
fn bodies_have_branches_and_loops() {
    in_seeds("", |_| {
        // Three rounds: each has a branch with two bodies, and a switch that has no body for 1.
        let mut bed = Bed::new(3.0);
        let graph = bed.graph();
        let handle = bed.handle(graph).unwrap();
        let decided = bed.decide(graph, handle, None, &[]);
        let (_, of_loop) = bed.conditional(graph, handle, (WHILE, 1), &[decided]).unwrap();
        let body = of_loop[0];
        let counted = bed.count_down(body, &[]);
        let [branch, switch] = [bed.handle(body).unwrap(), bed.handle(body).unwrap()];
        let decided = bed.decide(body, branch, None, &[counted]);
        let (branched, of_branch) = bed.conditional(body, branch, (IF, 2), &[decided]).unwrap();
        bed.add(of_branch[0], 1.0, &[]);
        bed.add(of_branch[1], 100.0, &[]);
        let decided = bed.decide(body, switch, None, &[branched]);
        let (switched, of_switch) = bed.conditional(body, switch, (SWITCH, 1), &[decided]).unwrap();
        bed.add(of_switch[0], 1000.0, &[]);
        bed.decide(body, handle, None, &[switched]);
        bed.run(graph).unwrap();
        assert!(bed.has(2.0 + 100.0 + 1000.0));
        assert_eq!(calls("body"), 3 + 3 + 1);
    });
}

#[test]
fn what_a_body_does_is_ordered_with_what_is_outside() {
    let found = with("", || {
        let mut bed = Bed::new(1.0);
        let graph = bed.graph();
        let handle = bed.handle(graph).unwrap();
        let decided = bed.decide(graph, handle, None, &[]);
        let (_, bodies) = bed.conditional(graph, handle, (IF, 1), &[decided]).unwrap();
        bed.add(bodies[0], 1.0, &[]);
        bed.add(graph, 1.0, &[]);
        assert_eq!(bed.instantiate(graph).unwrap_err().0, sys::CUresult::CUDA_ERROR_ILLEGAL_STATE);
    });
    assert!(found.contains("a race in a graph"), "{found}");
}

#[test]
fn a_value_that_nothing_has_set_is_found() {
    let found = with("", || {
        let bed = Bed::new(1.0);
        let graph = bed.graph();
        let handle = bed.handle(graph).unwrap();
        bed.conditional(graph, handle, (IF, 1), &[]).unwrap();
        bed.run(graph).unwrap_err();
    });
    assert!(found.contains("nothing has set its value"), "{found}");
}

unsafe extern "C" fn nothing(_: *mut c_void) {}

#[test]
fn the_driver_refuses_what_a_body_may_not_have_and_handles_that_no_node_has() {
    let found = with("", || {
        let mut bed = Bed::new(1.0);
        let graph = bed.graph();
        let handle = bed.handle(graph).unwrap();
        let (_, bodies) = bed.conditional(graph, handle, (WHILE, 1), &[]).unwrap();
        let mut node = null_mut();
        let call = sys::CUDA_HOST_NODE_PARAMS { fn_: Some(nothing), userData: null_mut() };
        // SAFETY: a graph that is there, and a function for any data.
        let code = unsafe { sys::cuGraphAddHostNode(&mut node, bodies[0], null(), 0, &call) };
        assert_eq!(code, sys::CUresult::CUDA_ERROR_NOT_SUPPORTED);
        let child = bed.graph();
        bed.add(child, 1.0, &[]);
        // SAFETY: graphs that are there.
        let code = unsafe { sys::cuGraphAddChildGraphNode(&mut node, bodies[0], null(), 0, child) };
        assert_eq!(code, sys::CUresult::CUDA_SUCCESS);
        // SAFETY: as above.
        let code = unsafe { sys::cuGraphAddChildGraphNode(&mut node, child, null(), 0, graph) };
        assert_eq!(code, sys::CUresult::CUDA_ERROR_NOT_SUPPORTED, "it has conditional nodes");
        let again = bed.conditional(graph, handle, (WHILE, 1), &[]);
        assert_eq!(again.unwrap_err().0, sys::CUresult::CUDA_ERROR_INVALID_VALUE, "a handle is one node's");
        bed.handle(graph).unwrap();
        let error = bed.instantiate(graph).unwrap_err();
        assert_eq!(error.0, sys::CUresult::CUDA_ERROR_INVALID_VALUE, "a handle has no node");
    });
    assert_eq!(found, "");
}

#[test]
fn older_drivers_have_fewer_or_none() {
    let kinds = |settings: &str| {
        let mut taken = Vec::new();
        with(settings, || {
            let bed = Bed::new(1.0);
            let graph = bed.graph();
            for kind in [(IF, 1), (WHILE, 1), (IF, 2), (SWITCH, 3)] {
                let node = bed.handle(graph).and_then(|handle| bed.conditional(graph, handle, kind, &[]));
                taken.push(node.is_ok());
            }
        });
        taken
    };
    assert_eq!(kinds("version=12030"), [false; 4]);
    assert_eq!(kinds("version=12040"), [true, true, false, false]);
    assert_eq!(kinds("version=12080"), [true; 4]);
}
