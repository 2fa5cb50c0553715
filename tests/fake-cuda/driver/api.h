// The types of the CUDA driver API, as far as this library uses them: those of CUDA 13.0, with NVIDIA's names.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "error.h"

using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct Context *;
using CUstream = struct Stream *;
using CUevent = struct Event *;
using CUmodule = struct Module *;
using CUlibrary = struct Module *;
using CUfunction = struct Function *;
using CUkernel = struct Function *;
using CUmemoryPool = struct Pool *;
using CUgraph = struct Graph *;
using CUgraphNode = struct Node *;
using CUgraphExec = struct GraphExec *;
using CUhostFn = void (*)(void *data);
using CUstreamCallback = void (*)(CUstream stream, CUresult status, void *data);
using CUoccupancyB2DSize = size_t (*)(int block_size);

#define CUDA_VERSION 13000

// Handles of streams that exist without being created: the legacy default stream, ordered with all others; and one for
// each thread of the host.
#define CU_STREAM_LEGACY (reinterpret_cast<CUstream>(1))
#define CU_STREAM_PER_THREAD (reinterpret_cast<CUstream>(2))

enum : unsigned {
    CU_STREAM_NON_BLOCKING = 1,
    CU_EVENT_BLOCKING_SYNC = 1,
    CU_EVENT_DISABLE_TIMING = 2,
};

enum CUstreamCaptureMode : int { CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, CU_STREAM_CAPTURE_MODE_RELAXED };
enum CUstreamCaptureStatus : int { CU_STREAM_CAPTURE_STATUS_NONE, CU_STREAM_CAPTURE_STATUS_ACTIVE, CU_STREAM_CAPTURE_STATUS_INVALIDATED };
enum CUmemorytype : unsigned { CU_MEMORYTYPE_HOST = 1, CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_ARRAY, CU_MEMORYTYPE_UNIFIED };
enum CUgraphNodeType : int { NODE_KERNEL, NODE_MEMCPY, NODE_MEMSET, NODE_HOST, NODE_GRAPH, NODE_EMPTY, NODE_MEM_ALLOC = 10, NODE_MEM_FREE, NODE_CONDITIONAL = 13 };

struct CUuuid {
    unsigned char bytes[16];
};
struct CUmemLocation {
    int type; // 1: a device; 2: the host
    int id;
};
struct CUmemPoolProps {
    int allocType, handleTypes;
    CUmemLocation location;
    void *win32SecurityAttributes;
    size_t maxSize;
    unsigned short usage;
    unsigned char reserved[54];
};
struct CUmemAccessDesc {
    CUmemLocation location;
    int flags; // 0: none, 1: read, 3: read and write
};
struct CUlaunchAttribute {
    int id;
    char pad[4];
    unsigned char value[64];
};
struct CUlaunchConfig {
    unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
    CUstream hStream;
    CUlaunchAttribute *attrs;
    unsigned numAttrs;
};
struct CUDA_KERNEL_NODE_PARAMS {
    CUfunction func;
    unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
    void **kernelParams;
    void **extra;
    CUkernel kern;
    CUcontext ctx;
};
struct CUDA_MEMSET_NODE_PARAMS {
    CUdeviceptr dst;
    size_t pitch;
    unsigned value, elementSize;
    size_t width, height;
};
struct CUDA_HOST_NODE_PARAMS {
    CUhostFn fn;
    void *userData;
};
struct CUDA_MEMCPY2D {
    size_t srcXInBytes, srcY;
    CUmemorytype srcMemoryType;
    const void *srcHost;
    CUdeviceptr srcDevice;
    void *srcArray;
    size_t srcPitch;
    size_t dstXInBytes, dstY;
    CUmemorytype dstMemoryType;
    void *dstHost;
    CUdeviceptr dstDevice;
    void *dstArray;
    size_t dstPitch;
    size_t WidthInBytes, Height;
};
struct CUDA_MEMCPY3D {
    size_t srcXInBytes, srcY, srcZ, srcLOD;
    CUmemorytype srcMemoryType;
    const void *srcHost;
    CUdeviceptr srcDevice;
    void *srcArray, *reserved0;
    size_t srcPitch, srcHeight;
    size_t dstXInBytes, dstY, dstZ, dstLOD;
    CUmemorytype dstMemoryType;
    void *dstHost;
    CUdeviceptr dstDevice;
    void *dstArray, *reserved1;
    size_t dstPitch, dstHeight;
    size_t WidthInBytes, Height, Depth;
};
struct CUDA_CONDITIONAL_NODE_PARAMS {
    uint64_t handle;
    unsigned type; // 0: if, 1: while, 2: switch
    unsigned size;
    CUgraph *phGraph_out;
    CUcontext ctx;
};
struct CUgraphNodeParams {
    CUgraphNodeType type;
    int reserved0[3];
    union {
        long long reserved1[29];
        CUDA_CONDITIONAL_NODE_PARAMS conditional;
    };
    long long reserved2;
};
struct CUgraphExecUpdateResultInfo {
    int result; // 0: updated; 1: not
    CUgraphNode errorNode, errorFromNode;
};
struct CUDA_GRAPH_INSTANTIATE_PARAMS {
    uint64_t flags;
    CUstream hUploadStream;
    CUgraphNode hErrNode_out;
    int result_out;
};

// A function of the library.
#define API extern "C" __attribute__((visibility("default"))) CUresult
