//! Programs with a mistake, which must be reported, or lead to wrong numbers.
#![allow(unsafe_code, reason = "makes mistakes that safe code does not")]

mod program;

use cudarc::driver::{CudaSlice, LaunchConfig, PushKernelArg, result, sys};
use program::{N, is_scaled, launch_scale_add, module, numbers, on_device, pinned, with};

/// The kernel's stream does not wait for the copy's. Returns whether the result is right.
fn without_a_wait() -> bool {
    let (context, copies) = on_device(0);
    // SAFETY: not safe: this is the mistake.
    unsafe { context.disable_event_tracking() };
    let compute = context.new_stream().unwrap();
    let kernel = module(&compute).load_function("plain_scale_add").unwrap();
    let source = pinned(&context, &numbers());
    let mut x = copies.alloc_zeros::<f32>(N).unwrap();
    let mut y = copies.alloc_zeros::<f32>(N).unwrap();
    copies.synchronize().unwrap();
    copies.memcpy_htod(&source, &mut x).unwrap();
    let launched = launch_scale_add(&compute, &kernel, &x, &mut y);
    compute.synchronize().unwrap();
    let is_right = launched.is_ok() && is_scaled(&compute.clone_dtoh(&y).unwrap(), 2.0);
    copies.synchronize().unwrap();
    is_right
}

#[test]
fn a_missing_wait_shows_in_the_numbers() {
    let mut right = Vec::new();
    for seed in 0..20 {
        let found = with(&format!("seed={seed} races=0"), || right.push(without_a_wait()));
        assert_eq!(found, "");
    }
    assert!(right[0], "the seed 0 runs everything in the order of submission");
    assert!(!right[1], "the seed 1 runs nothing that is not waited for");
    assert!(right[2..].contains(&false));
}

#[test]
fn a_missing_wait_is_found_under_every_seed() {
    for seed in 0..20 {
        let found = with(&format!("seed={seed}"), || assert!(!without_a_wait()));
        let parts = [
            "a race: kernel plain_scale_add in stream",
            "(reads parameter 0)",
            "copy of 4000 bytes",
            "(writes its target)",
        ];
        assert!(parts.iter().all(|part| found.contains(part)), "{found}");
        assert_eq!(found.lines().count(), 1, "{found}");
    }
}

#[test]
fn pinned_memory_is_read_too_early() {
    let found = with("seed=1", || {
        let (context, stream) = on_device(0);
        let x = stream.clone_htod(&numbers()).unwrap();
        let target = pinned(&context, &numbers());
        let host = target.as_ptr().unwrap().cast_mut();
        // SAFETY: the memory is as large.
        let host = unsafe { std::slice::from_raw_parts_mut(host, N) };
        let (address, _used) = cudarc::driver::DevicePtr::device_ptr(&x, &stream);
        // SAFETY: not safe: the target is read before the copy has ended.
        unsafe { result::memcpy_dtoh_async(host, address, stream.cu_stream()) }.unwrap();
        let early: Vec<f32> = (0..N)
            .map(|i| host.as_ptr().wrapping_add(i))
            // SAFETY: as above; in volatile reads, since another thread writes.
            .map(|element| unsafe { element.read_volatile() })
            .collect();
        assert!(early.iter().all(|number| number.is_nan()));
        stream.synchronize().unwrap();
        assert!(is_scaled(target.as_slice().unwrap(), 1.0));
    });
    assert_eq!(found, "");
}

#[test]
fn memory_is_used_after_it_was_freed() {
    let found = with("", || {
        let (_context, stream) = on_device(0);
        let kernel = module(&stream).load_function("plain_scale_add").unwrap();
        let x = stream.clone_htod(&numbers()).unwrap();
        let mut y = stream.alloc_zeros::<f32>(N).unwrap();
        let address = x.leak();
        // SAFETY: not safe: it is used below.
        unsafe { result::free_async(address, stream.cu_stream()) }.unwrap();
        let mut launch = stream.launch_builder(&kernel);
        launch.arg(&address).arg(&mut y).arg(&2.0_f32).arg(&N);
        // SAFETY: not safe: the first argument is freed.
        unsafe { launch.launch(LaunchConfig::for_num_elems(N as u32)) }.unwrap();
        let error = stream.synchronize().unwrap_err();
        assert_eq!(error.0, sys::CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
        // The fault also makes the context unusable.
        assert_eq!(stream.alloc_zeros::<f32>(N).unwrap_err().0, sys::CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
        std::mem::forget(y);
    });
    assert!(found.contains("kernel plain_scale_add gets an illegal address, parameter 0: 0x"), "{found}");
    assert!(
        found.contains("in 4000 bytes of device 0 at 0x") && found.contains("which was freed"),
        "{found}"
    );
}

/// The findings when the kernel writes element `index` of N.
fn stray(index: usize) -> (Result<(), sys::CUresult>, String) {
    let mut result = Ok(());
    let found = with("", || {
        let (_context, stream) = on_device(0);
        let kernel = module(&stream).load_function("plain_stray").unwrap();
        let mut y = stream.alloc_zeros::<f32>(N).unwrap();
        let mut launch = stream.launch_builder(&kernel);
        launch.arg(&mut y).arg(&index);
        // SAFETY: not safe: the index is out of bounds.
        unsafe { launch.launch(LaunchConfig::for_num_elems(1)) }.unwrap();
        result = stream.synchronize().map_err(|error| error.0);
    });
    (result, found)
}

#[test]
fn a_kernel_writes_where_it_must_not() {
    assert_eq!(stray(N - 1), (Ok(()), String::new()));
    let illegal = Err(sys::CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
    let (result, found) = stray(N + 3);
    assert_eq!(result, illegal);
    assert!(found.contains("kernel plain_stray wrote past the end of 4000 bytes of device 0"), "{found}");
    let (result, found) = stray(N + 1024);
    assert_eq!(result, illegal);
    let parts = [
        "kernel plain_stray, block (0, 0, 0), thread (0, 0, 0): an illegal address",
        "4096 bytes past the end of 4000 bytes",
    ];
    assert!(parts.iter().all(|part| found.contains(part)), "{found}");
    let (result, found) = stray(1 << 50);
    assert_eq!(result, illegal);
    assert!(found.contains("an illegal address"), "{found}");
}

#[test]
fn what_nothing_has_written_is_read() {
    let found = with("", || {
        let (_context, stream) = on_device(0);
        // SAFETY: not safe: it is read below.
        let x: CudaSlice<f32> = unsafe { stream.alloc(N) }.unwrap();
        let error = stream.clone_dtoh(&x).unwrap_err();
        assert_eq!(error.0, sys::CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
        std::mem::forget(x);
    });
    assert!(found.contains("reads what nothing has written: byte 0 of 4000 bytes of device 0"), "{found}");
}

#[test]
fn a_kernel_reads_another_devices_memory() {
    for (settings, is_enabled) in [("devices=2", true), ("devices=2", false)] {
        let found = with(settings, || {
            let (first, on_first) = on_device(0);
            // SAFETY: the host waits where an order is needed. cudarc takes no events of another context.
            unsafe { first.disable_event_tracking() };
            let x = on_first.clone_htod(&numbers()).unwrap();
            on_first.synchronize().unwrap();
            if is_enabled {
                allow_access(0, 1);
            }
            let (second, on_second) = on_device(1);
            // SAFETY: as above.
            unsafe { second.disable_event_tracking() };
            let kernel = module(&on_second).load_function("plain_scale_add").unwrap();
            let mut y = on_second.alloc_zeros::<f32>(N).unwrap();
            launch_scale_add(&on_second, &kernel, &x, &mut y).unwrap();
            assert_eq!(on_second.synchronize().is_ok(), is_enabled);
            std::mem::forget((x, y));
            drop(first);
        });
        assert_eq!(found.contains("to which device 1 has no access"), !is_enabled, "{found}");
    }
}

/// Lets a device read and write the default pool of another.
fn allow_access(of: i32, to: i32) {
    let mut pool = std::ptr::null_mut();
    // SAFETY: the device exists.
    unsafe { sys::cuDeviceGetDefaultMemPool(&mut pool, of) }.result().unwrap();
    // SAFETY: zeros are a value of each of its fields.
    let mut access: sys::CUmemAccessDesc = unsafe { std::mem::zeroed() };
    access.location.type_ = sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
    access.location.id = to;
    access.flags = sys::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    // SAFETY: the pool is the device's, and there is one description.
    unsafe { sys::cuMemPoolSetAccess(pool, &access, 1) }.result().unwrap();
}

#[test]
#[ignore = "ends its process: another test starts it"]
fn reads_a_devices_memory() {
    with("", || {
        let (_context, stream) = on_device(0);
        let x = stream.clone_htod(&numbers()).unwrap();
        stream.synchronize().unwrap();
        let address = cudarc::driver::DevicePtr::device_ptr(&x, &stream).0;
        // SAFETY: not safe: it is not memory of the host.
        let number = unsafe { (address as *const f32).read_volatile() };
        println!("it read {number}");
    });
}

#[test]
fn the_host_reads_a_devices_memory() {
    let program = std::env::current_exe().unwrap();
    let mut command = std::process::Command::new(program);
    let ended =
        command.args(["--ignored", "--exact", "reads_a_devices_memory", "--nocapture"]).output().unwrap();
    assert!(!ended.status.success());
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(
        said.contains("the host reads or writes 0x300000000000, which is in 4000 bytes of device 0"),
        "{said}"
    );
}
