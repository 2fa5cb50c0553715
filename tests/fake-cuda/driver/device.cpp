// What a program can ask of devices. They are as an H100 in what programs decide on; how fast they are is not there to be asked.
#include <string.h>

#include "driver.h"

template <class F> static CUresult of_device(CUdevice device, F body) {
    return initialised(Kind::Device, [&] { return driver().has_device(device) ? body() : CUDA_ERROR_INVALID_DEVICE; });
}

API cuDeviceGetCount(int *count) {
    return initialised(Kind::Device, [&] {
        *count = int(driver().devices.size());
        return CUDA_SUCCESS;
    });
}

API cuDeviceGet(CUdevice *device, int ordinal) {
    return of_device(ordinal, [&] {
        *device = ordinal;
        return CUDA_SUCCESS;
    });
}

API cuDeviceGetName(char *name, int len, CUdevice device) {
    return of_device(device, [&] {
        if (!name || len <= 0) return CUDA_ERROR_INVALID_VALUE;
        strncpy(name, "fake CUDA", size_t(len) - 1);
        name[len - 1] = 0;
        return CUDA_SUCCESS;
    });
}

API cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) {
    return of_device(device, [&] {
        memcpy(uuid->bytes, "fake-cuda-dev-\0", 16);
        uuid->bytes[15] = static_cast<unsigned char>(device);
        return CUDA_SUCCESS;
    });
}

API cuDeviceGetUuid(CUuuid *uuid, CUdevice device) { return cuDeviceGetUuid_v2(uuid, device); }

API cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
    return of_device(device, [&] {
        *bytes = driver().settings.memory_bytes;
        return CUDA_SUCCESS;
    });
}

static int attribute_of(int attribute, CUdevice device) {
    switch (attribute) {
    case 1: return 1024;                // threads of a block
    case 2: case 3: return 1024;        // along x, y
    case 4: return 64;                  // along z
    case 5: return 0x7FFFFFFF;          // blocks along x
    case 6: case 7: return 65535;       // along y, z
    case 8: return 48 << 10;            // shared memory of a block
    case 9: return 64 << 10;            // constant memory
    case 10: return 32;                 // threads of a warp
    case 11: return 0x7FFFFFFF;         // pitch of a copy
    case 12: return 65536;              // registers of a block
    case 14: case 51: return 512;       // alignment of textures
    case 15: return 1;                  // copies beside kernels
    case 16: return 4;                  // multiprocessors
    case 19: return 1;                  // host memory can be mapped
    case 31: return 1;                  // concurrent kernels
    case 33: return device + 1;         // PCI bus
    case 38: return 4 << 20;            // L2 cache
    case 39: return 2048;               // threads of a multiprocessor
    case 40: return 2;                  // engines for copies
    case 41: return 1;                  // unified addresses
    case 75: return 9;                  // compute capability 9.0
    case 78: return 1;                  // priorities of streams
    case 79: case 80: return 1;         // caches
    case 81: return 228 << 10;          // shared memory of a multiprocessor
    case 82: return 65536;              // registers of a multiprocessor
    case 83: return 1;                  // managed memory
    case 90: return 1;                  // preemption
    case 91: return 1;                  // host pointers of registered memory
    case 97: return 227 << 10;          // shared memory of a block, when asked for
    case 99: return 1;                  // host memory can be registered
    case 106: return 32;                // blocks of a multiprocessor
    case 111: return 1 << 10;           // shared memory that is reserved for a block
    case 115: return 1;                 // memory pools
    case 117: return 1;                 // sparse arrays
    }
    return 0;
}

API cuDeviceGetAttribute(int *value, int attribute, CUdevice device) {
    return of_device(device, [&] {
        if (attribute <= 0 || attribute > 160) return CUDA_ERROR_INVALID_VALUE;
        *value = attribute_of(attribute, device);
        return CUDA_SUCCESS;
    });
}

API cuDeviceComputeCapability(int *major, int *minor, CUdevice device) {
    return of_device(device, [&] {
        *major = 9;
        *minor = 0;
        return CUDA_SUCCESS;
    });
}

API cuDeviceGetPCIBusId(char *text, int len, CUdevice device) {
    return of_device(device, [&] {
        snprintf(text, size_t(len), "0000:%02x:00.0", device + 1);
        return CUDA_SUCCESS;
    });
}

API cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer) {
    return of_device(device, [&] {
        if (!driver().has_device(peer)) return CUDA_ERROR_INVALID_DEVICE;
        *can = device != peer && driver().settings.peer_access;
        return CUDA_SUCCESS;
    });
}

API cuDeviceGetP2PAttribute(int *value, int attribute, CUdevice device, CUdevice peer) {
    return of_device(device, [&] {
        if (!driver().has_device(peer) || device == peer) return CUDA_ERROR_INVALID_DEVICE;
        // 2: access; 3: atomic operations.
        *value = (attribute == 2 || attribute == 3) && driver().settings.peer_access;
        return CUDA_SUCCESS;
    });
}
