//! A device's memory pool, the source of all its allocations.

use std::ptr;

use cudarc::driver::sys::{
    CUdevice, CUmemAccess_flags, CUmemAccessDesc, CUmemLocation, CUmemLocationType, CUmemPool_attribute,
    CUmemoryPool,
};

use super::calls;
use super::error::{CudaError, check};

/// Lets a device's pool keep what is freed: else it goes back to the system at every wait.
pub(super) fn keep_memory(device: CUdevice) -> Result<(), CudaError> {
    let pool = pool_of(device)?;
    let mut all = u64::MAX;
    let attribute = CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
    // SAFETY: the attribute is a number of 64 bits.
    check("cuMemPoolSetAttribute", unsafe {
        calls::cuMemPoolSetAttribute(pool, attribute, (&raw mut all).cast())
    })
}

/// Opens a device's pool to another device, if that can reach it: copies between the two then go directly. Else they go through
/// the host's memory, which the driver does by itself.
pub(super) fn open_to(device: CUdevice, peer: CUdevice) -> Result<(), CudaError> {
    let mut can = 0;
    // SAFETY: room for a number; both are devices that the driver has named.
    check("cuDeviceCanAccessPeer", unsafe { calls::cuDeviceCanAccessPeer(&raw mut can, peer, device) })?;
    if can == 0 {
        return Ok(());
    }
    let access = CUmemAccessDesc {
        location: CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: peer },
        flags: CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
    };
    // SAFETY: one description, of the pool of a device and another device that can reach it.
    check("cuMemPoolSetAccess", unsafe { calls::cuMemPoolSetAccess(pool_of(device)?, &raw const access, 1) })
}

fn pool_of(device: CUdevice) -> Result<CUmemoryPool, CudaError> {
    let mut pool = ptr::null_mut();
    // SAFETY: room for a pool.
    check("cuDeviceGetDefaultMemPool", unsafe { calls::cuDeviceGetDefaultMemPool(&raw mut pool, device) })?;
    Ok(pool)
}
