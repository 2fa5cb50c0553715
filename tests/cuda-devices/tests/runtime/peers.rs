//! Devices that copy directly from one to the other.
#![allow(unsafe_code, reason = "asks the driver, in C")]

use cudarc::driver::sys::{self, CUmemLocation, CUmemLocationType, CUmemoryPool, CUresult};

use crate::runtime::bed::{Bed, builder};

/// Whether `device` may read and write the memory of the pool of `owner`.
fn may_access(owner: i32, device: i32) -> bool {
    let mut pool: CUmemoryPool = std::ptr::null_mut();
    // SAFETY: the pointer is to memory for a pool, and the device exists.
    let found = unsafe { sys::cuDeviceGetDefaultMemPool(&raw mut pool, owner) };
    assert_eq!(found, CUresult::CUDA_SUCCESS);
    let mut location = CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: device };
    let mut flags = sys::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_NONE;
    // SAFETY: the pointer is to memory for flags, the pool exists, and the location is only read.
    let asked = unsafe { sys::cuMemPoolGetAccess(&raw mut flags, pool, &raw mut location) };
    assert_eq!(asked, CUresult::CUDA_SUCCESS);
    flags == sys::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE
}

#[test]
fn pools_are_open_to_the_devices_that_can_reach_them() {
    let Some(_bed) = Bed::new("devices=3") else { return };
    let _rt = builder().cuda_devices(2).build().expect("it can be had");
    let open = [(0, 1), (1, 0), (0, 2), (2, 0)].map(|(owner, device)| may_access(owner, device));
    assert_eq!(open, [true, true, false, false], "the third device is not used");
}

#[test]
fn devices_that_cannot_reach_each_other_are_used_all_the_same() {
    let Some(bed) = Bed::new("devices=2 peer=0") else { return };
    let rt = builder().build().expect("it can be had");
    assert!(!may_access(0, 1) && !may_access(1, 0));
    let mut x = rt.from_vec([1, 2], vec![1, 2]).expect("it can be had");
    crate::runtime::bed::scale(&mut x, 1, crate::runtime::bed::cuda(0)).expect("it is right");
    crate::runtime::bed::scale(&mut x, 2, crate::runtime::bed::cuda(1)).expect("it is right");
    assert_eq!(x.to_vec().expect("nothing failed"), [32, 57]);
    drop((x, rt));
    assert_eq!(bed.findings(), "");
}
