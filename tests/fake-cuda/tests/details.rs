//! Details of streams, memory and graphs in the driver API, through its own functions.
#![allow(unsafe_code, reason = "calls the driver")]

mod program;

use std::ptr::{null, null_mut};

use cudarc::driver::{DevicePtr, DevicePtrMut, sys};
use program::{N, in_seeds, is_scaled, launch_scale_add, module, numbers, on_device, pinned, with};

type Code = sys::CUresult;

/// The sum of the events of a test that holds when there are none.
fn nothing_found(settings: &str, program: impl FnOnce()) {
    assert_eq!(with(settings, program), "");
}

#[test]
fn the_default_stream_is_in_order_with_others_but_not_with_those_that_do_not_block() {
    for (flags, is_ordered) in [(0, true), (1, false)] {
        let found = with("seed=1 races=0", || {
            let (context, stream) = on_device(0);
            let source = pinned(&context, &numbers());
            let mut x = stream.alloc_zeros::<f32>(N).unwrap();
            stream.synchronize().unwrap();
            let address = x.device_ptr_mut(&stream).0;
            let mut other = null_mut();
            // SAFETY: a stream of this context, which is current.
            unsafe { sys::cuStreamCreate(&mut other, flags) }.result().unwrap();
            let from = source.as_ptr().unwrap().cast();
            // SAFETY: both span N floats until the end.
            unsafe { sys::cuMemcpyHtoDAsync_v2(address, from, 4 * N, other) }.result().unwrap();
            let mut copied = vec![0.0_f32; N];
            // SAFETY: as above.
            unsafe { sys::cuMemcpyDtoH_v2(copied.as_mut_ptr().cast(), address, 4 * N) }.result().unwrap();
            assert_eq!(is_scaled(&copied, 1.0), is_ordered);
            // SAFETY: the stream is there.
            unsafe { sys::cuStreamSynchronize(other) }.result().unwrap();
        });
        assert_eq!(found, "");
    }
}

#[test]
fn rows_of_a_matrix() {
    in_seeds("", |_| {
        let (_context, stream) = on_device(0);
        let numbers: Vec<f32> = (0..12).map(|i| i as f32).collect();
        let mut matrix = stream.alloc_zeros::<f32>(40).unwrap();
        // 3 rows of 4 into rows of 10, from column 2 on.
        let copy = sys::CUDA_MEMCPY2D {
            srcXInBytes: 0,
            srcY: 0,
            srcMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_HOST,
            srcHost: numbers.as_ptr().cast(),
            srcDevice: 0,
            srcArray: null_mut(),
            srcPitch: 16,
            dstXInBytes: 8,
            dstY: 1,
            dstMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_DEVICE,
            dstHost: null_mut(),
            dstDevice: matrix.device_ptr_mut(&stream).0,
            dstArray: null_mut(),
            dstPitch: 40,
            WidthInBytes: 16,
            Height: 3,
        };
        // SAFETY: both sides span the rows.
        unsafe { sys::cuMemcpy2DAsync_v2(&copy, stream.cu_stream()) }.result().unwrap();
        let copied = stream.clone_dtoh(&matrix).unwrap();
        let expected = |i: usize| match (i / 10, i % 10) {
            (row @ 1..4, col @ 2..6) => (row * 4 + col - 6) as f32,
            _ => 0.0,
        };
        assert!(copied.iter().enumerate().all(|(i, &number)| number == expected(i)), "{copied:?}");
    });
}

#[test]
fn copies_that_go_past_the_end() {
    let found = with("", || {
        let (_context, stream) = on_device(0);
        let x = stream.alloc_zeros::<f32>(N).unwrap();
        let address = x.device_ptr(&stream).0;
        let numbers = numbers();
        // SAFETY: not safe: one byte too many; the driver must find it.
        let code = unsafe {
            sys::cuMemcpyHtoDAsync_v2(address + 1, numbers.as_ptr().cast(), 4 * N, stream.cu_stream())
        };
        assert_eq!(code, Code::CUDA_ERROR_INVALID_VALUE);
        // SAFETY: not safe: the source is not memory of the host.
        let code = unsafe { sys::cuMemcpyHtoDAsync_v2(address, address as *const _, 4, stream.cu_stream()) };
        assert_eq!(code, Code::CUDA_ERROR_INVALID_VALUE);
    });
    let found: Vec<_> = found.lines().collect();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found[0].starts_with("target of a copy: 0x")
            && found[0].ends_with("4000 bytes from there on go past its end")
    );
    assert!(
        found[1].contains("source of a copy: memory of the host is expected, not 4000 bytes of device 0")
    );
}

#[test]
fn a_capture_takes_no_waits_and_no_other_work() {
    nothing_found("", || {
        let (context, stream) = on_device(0);
        // SAFETY: one stream orders everything.
        unsafe { context.disable_event_tracking() };
        let kernel = module(&stream).load_function("plain_scale_add").unwrap();
        let x = stream.clone_htod(&numbers()).unwrap();
        let mut y = stream.alloc_zeros::<f32>(N).unwrap();
        let other = context.new_stream().unwrap();
        let before = other.record_event(None).unwrap();
        context.synchronize().unwrap();
        let begin = || stream.begin_capture(sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL).unwrap();
        let end = || {
            let mut graph = null_mut();
            // SAFETY: the stream captures.
            unsafe { sys::cuStreamEndCapture(stream.cu_stream(), &mut graph) }
        };
        begin();
        assert_eq!(stream.synchronize().unwrap_err().0, Code::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        assert_eq!(end(), Code::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        begin();
        assert_eq!(stream.wait(&before).unwrap_err().0, Code::CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
        assert_eq!(end(), Code::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        begin();
        other.join(&stream).unwrap();
        launch_scale_add(&other, &kernel, &x, &mut y).unwrap();
        assert_eq!(end(), Code::CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
        begin();
        let mut address = 0;
        // SAFETY: nothing is done with it.
        let code = unsafe { sys::cuMemAlloc_v2(&mut address, 64) };
        assert_eq!(code, Code::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        assert_eq!(end(), Code::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    });
}

/// Three additions to `y` in a graph that is built by hand, of which the last two are ordered if `is_ordered`. Returns
/// the result of two launches.
fn graph_by_hand(is_ordered: bool) -> Result<Vec<f32>, Code> {
    let (context, stream) = on_device(0);
    // SAFETY: one stream orders everything.
    unsafe { context.disable_event_tracking() };
    let kernel = module(&stream).load_function("plain_scale_add").unwrap();
    let x = stream.clone_htod(&numbers()).unwrap();
    let mut y = stream.alloc_zeros::<f32>(N).unwrap();
    stream.synchronize().unwrap();
    let (mut graph, mut exec) = (null_mut(), null_mut());
    // SAFETY: the context is current.
    unsafe { sys::cuGraphCreate(&mut graph, 0) }.result().unwrap();
    let mut arguments = (x.device_ptr(&stream).0, y.device_ptr_mut(&stream).0, 1.0_f32, N);
    let mut parameters = [
        (&raw mut arguments.0).cast(),
        (&raw mut arguments.1).cast(),
        (&raw mut arguments.2).cast(),
        (&raw mut arguments.3).cast::<std::ffi::c_void>(),
    ];
    // SAFETY: zeros are a value of each of its fields.
    let mut node: sys::CUDA_KERNEL_NODE_PARAMS = unsafe { std::mem::zeroed() };
    node.func = kernel.cu_function();
    (node.gridDimX, node.gridDimY, node.gridDimZ) = (4, 1, 1);
    (node.blockDimX, node.blockDimY, node.blockDimZ) = (64, 1, 1);
    node.kernelParams = parameters.as_mut_ptr();
    let mut nodes: [sys::CUgraphNode; 3] = [null_mut(); 3];
    for i in 0..3 {
        let after = if i == 0 || (i == 2 && !is_ordered) { null() } else { &raw const nodes[i - 1] };
        let count = usize::from(!after.is_null());
        let mut made = null_mut();
        // SAFETY: the graph is there, and so are the nodes before.
        unsafe { sys::cuGraphAddKernelNode_v2(&mut made, graph, after, count, &node) }.result().unwrap();
        nodes[i] = made;
    }
    // SAFETY: the graph is there.
    unsafe { sys::cuGraphInstantiateWithFlags(&mut exec, graph, 0) }.result().map_err(|error| error.0)?;
    for _ in 0..2 {
        // SAFETY: what it uses lives.
        unsafe { sys::cuGraphLaunch(exec, stream.cu_stream()) }.result().unwrap();
        // Change the factor of the last one.
        // SAFETY: the argument lives, and only the driver reads it, through the pointer to it.
        unsafe { parameters[2].cast::<f32>().write(10.0) };
        // SAFETY: the node is one of the graph's.
        unsafe { sys::cuGraphExecKernelNodeSetParams_v2(exec, nodes[2], &node) }.result().unwrap();
    }
    let result = stream.clone_dtoh(&y).unwrap();
    // SAFETY: nothing uses them any more.
    unsafe { sys::cuGraphExecDestroy(exec) }.result().unwrap();
    // SAFETY: as above.
    unsafe { sys::cuGraphDestroy(graph) }.result().unwrap();
    Ok(result)
}

#[test]
fn a_graph_by_hand_is_updated() {
    // 1 + 1 + 1, then 1 + 1 + 10.
    in_seeds("", |_| assert!(is_scaled(&graph_by_hand(true).unwrap(), 15.0)));
}

#[test]
fn an_edge_that_lacks_in_a_graph() {
    let found = with("", || assert_eq!(graph_by_hand(false).unwrap_err(), Code::CUDA_ERROR_ILLEGAL_STATE));
    assert!(
        found.contains("a race in a graph: kernel plain_scale_add and kernel plain_scale_add"),
        "{found}"
    );
}

#[test]
fn figures_of_a_pool() {
    nothing_found("", || {
        let (_context, stream) = on_device(0);
        let mut pool = null_mut();
        // SAFETY: the device exists.
        unsafe { sys::cuDeviceGetDefaultMemPool(&mut pool, 0) }.result().unwrap();
        let figure = |attribute: sys::CUmemPool_attribute| {
            let mut figure = 0_u64;
            // SAFETY: the figures are of this type.
            unsafe { sys::cuMemPoolGetAttribute(pool, attribute, (&raw mut figure).cast()) }
                .result()
                .unwrap();
            figure
        };
        type Of = sys::CUmemPool_attribute;
        let mut threshold = 3000_u64;
        // SAFETY: the threshold is of this type.
        let set = unsafe {
            sys::cuMemPoolSetAttribute(
                pool,
                Of::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
                (&raw mut threshold).cast(),
            )
        };
        set.result().unwrap();
        let x = stream.alloc_zeros::<u8>(4000).unwrap();
        assert_eq!(figure(Of::CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 4000);
        drop(x);
        stream.synchronize().unwrap();
        assert_eq!(figure(Of::CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0);
        assert_eq!(figure(Of::CU_MEMPOOL_ATTR_USED_MEM_HIGH), 4000);
        assert_eq!(figure(Of::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 3000);
        // SAFETY: the pool is there.
        unsafe { sys::cuMemPoolTrimTo(pool, 1000) }.result().unwrap();
        assert_eq!(figure(Of::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 1000);
    });
}

#[test]
fn memory_of_the_host_is_freed_while_a_copy_uses_it() {
    let found = with("seed=1", || {
        let (_context, stream) = on_device(0);
        let mut x = stream.alloc_zeros::<f32>(N).unwrap();
        let mut host = null_mut();
        // SAFETY: the memory is freed below.
        unsafe { sys::cuMemHostAlloc(&mut host, 4 * N, 0) }.result().unwrap();
        let address = x.device_ptr_mut(&stream).0;
        // SAFETY: not safe: the source is freed before the copy has ended.
        unsafe { sys::cuMemcpyHtoDAsync_v2(address, host, 4 * N, stream.cu_stream()) }.result().unwrap();
        // SAFETY: as above.
        let code = unsafe { sys::cuMemFreeHost(host) };
        assert_eq!(code, Code::CUDA_ERROR_INVALID_VALUE);
    });
    assert!(found.contains("free of 4000 bytes of pinned memory") && found.contains("still uses"), "{found}");
}

#[test]
fn functions_are_found_by_name() {
    nothing_found("", || {
        let (_context, _stream) = on_device(0);
        let mut function = null_mut();
        // SAFETY: the name ends in zero; no status is wanted.
        let code =
            unsafe { sys::cuGetProcAddress_v2(c"cuMemAlloc".as_ptr(), &mut function, 13000, 0, null_mut()) };
        assert!(code == Code::CUDA_SUCCESS && !function.is_null());
        // SAFETY: as above.
        let code =
            unsafe { sys::cuGetProcAddress_v2(c"cuNone".as_ptr(), &mut function, 13000, 0, null_mut()) };
        assert!(code == Code::CUDA_ERROR_NOT_FOUND && function.is_null());
    });
}
