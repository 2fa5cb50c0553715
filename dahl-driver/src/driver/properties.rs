//! What the driver says of a device: its name, its compute capability, its PCI address.

use std::ffi::CStr;

use cudarc::driver::sys::{CUdevice, CUdevice_attribute};

use super::calls;
use super::error::{CudaError, check};

/// What its maker calls a device.
pub(super) fn name(device: CUdevice) -> Result<String, CudaError> {
    let mut text = [0_u8; 256];
    let len = text.len() as i32 - 1;
    // SAFETY: room for so many characters.
    check("cuDeviceGetName", unsafe { calls::cuDeviceGetName(text.as_mut_ptr().cast(), len, device) })?;
    let text = CStr::from_bytes_until_nul(&text).unwrap_or_default();
    Ok(text.to_string_lossy().into_owned())
}

fn attribute(device: CUdevice, attribute: CUdevice_attribute) -> Result<u32, CudaError> {
    let mut value = 0;
    // SAFETY: room for a number.
    check("cuDeviceGetAttribute", unsafe { calls::cuDeviceGetAttribute(&raw mut value, attribute, device) })?;
    Ok(value as u32)
}

/// The compute capability: 90 for 9.0.
pub(super) fn capability(device: CUdevice) -> Result<u32, CudaError> {
    let major = attribute(device, CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
    Ok(10 * major + attribute(device, CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?)
}

/// The PCI address. A device's functions have the number 0.
pub(super) fn pci_address(device: CUdevice) -> Result<String, CudaError> {
    let domain = attribute(device, CUdevice_attribute::CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID)?;
    let bus = attribute(device, CUdevice_attribute::CU_DEVICE_ATTRIBUTE_PCI_BUS_ID)?;
    let slot = attribute(device, CUdevice_attribute::CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID)?;
    Ok(format!("{domain:04x}:{bus:02x}:{slot:02x}.0"))
}
