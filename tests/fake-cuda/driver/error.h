// The errors of the driver API: number, name, and description in NVIDIA's driver.
#pragma once

#define CUDA_ERRORS(E)                                                                                                  \
    E(SUCCESS, 0, "no error")                                                                                           \
    E(ERROR_INVALID_VALUE, 1, "invalid argument")                                                                       \
    E(ERROR_OUT_OF_MEMORY, 2, "out of memory")                                                                          \
    E(ERROR_NOT_INITIALIZED, 3, "initialization error")                                                                 \
    E(ERROR_DEINITIALIZED, 4, "driver shutting down")                                                                   \
    E(ERROR_DEVICE_UNAVAILABLE, 46, "CUDA-capable device(s) is/are busy or unavailable")                                \
    E(ERROR_NO_DEVICE, 100, "no CUDA-capable device is detected")                                                       \
    E(ERROR_INVALID_DEVICE, 101, "invalid device ordinal")                                                              \
    E(ERROR_INVALID_IMAGE, 200, "device kernel image is invalid")                                                       \
    E(ERROR_INVALID_CONTEXT, 201, "invalid device context")                                                             \
    E(ERROR_NO_BINARY_FOR_GPU, 209, "no kernel image is available for execution on the device")                         \
    E(ERROR_ECC_UNCORRECTABLE, 214, "uncorrectable ECC error encountered")                                              \
    E(ERROR_UNSUPPORTED_LIMIT, 215, "limit is not supported on this architecture")                                      \
    E(ERROR_PEER_ACCESS_UNSUPPORTED, 217, "peer access is not supported between these two devices")                     \
    E(ERROR_INVALID_PTX, 218, "a PTX JIT compilation failed")                                                           \
    E(ERROR_INVALID_SOURCE, 300, "device kernel image is invalid")                                                      \
    E(ERROR_FILE_NOT_FOUND, 301, "file not found")                                                                      \
    E(ERROR_OPERATING_SYSTEM, 304, "OS call failed or operation not supported on this OS")                              \
    E(ERROR_INVALID_HANDLE, 400, "invalid resource handle")                                                             \
    E(ERROR_ILLEGAL_STATE, 401, "the operation cannot be performed in the present state")                               \
    E(ERROR_NOT_FOUND, 500, "named symbol not found")                                                                   \
    E(ERROR_NOT_READY, 600, "device not ready")                                                                         \
    E(ERROR_ILLEGAL_ADDRESS, 700, "an illegal memory access was encountered")                                           \
    E(ERROR_LAUNCH_OUT_OF_RESOURCES, 701, "too many resources requested for launch")                                    \
    E(ERROR_LAUNCH_TIMEOUT, 702, "the launch timed out and was terminated")                                             \
    E(ERROR_PEER_ACCESS_ALREADY_ENABLED, 704, "peer access is already enabled")                                         \
    E(ERROR_PEER_ACCESS_NOT_ENABLED, 705, "peer access has not been enabled")                                           \
    E(ERROR_PRIMARY_CONTEXT_ACTIVE, 708, "cannot set while device is active in this process")                           \
    E(ERROR_CONTEXT_IS_DESTROYED, 709, "context is destroyed")                                                          \
    E(ERROR_ASSERT, 710, "device-side assert triggered")                                                                \
    E(ERROR_HOST_MEMORY_ALREADY_REGISTERED, 712, "part or all of the requested memory range is already mapped")         \
    E(ERROR_HOST_MEMORY_NOT_REGISTERED, 713, "pointer does not correspond to a registered memory region")               \
    E(ERROR_HARDWARE_STACK_ERROR, 714, "hardware stack error")                                                          \
    E(ERROR_ILLEGAL_INSTRUCTION, 715, "an illegal instruction was encountered")                                         \
    E(ERROR_MISALIGNED_ADDRESS, 716, "misaligned address")                                                              \
    E(ERROR_LAUNCH_FAILED, 719, "unspecified launch failure")                                                           \
    E(ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, 720, "too many blocks in cooperative launch")                                 \
    E(ERROR_NOT_PERMITTED, 800, "operation not permitted")                                                              \
    E(ERROR_NOT_SUPPORTED, 801, "operation not supported")                                                              \
    E(ERROR_SYSTEM_NOT_READY, 802, "system not yet initialized")                                                        \
    E(ERROR_STREAM_CAPTURE_UNSUPPORTED, 900, "operation not permitted when stream is capturing")                        \
    E(ERROR_STREAM_CAPTURE_INVALIDATED, 901, "operation failed due to a previous error during capture")                 \
    E(ERROR_STREAM_CAPTURE_MERGE, 902, "operation would result in a merge of separate capture sequences")               \
    E(ERROR_STREAM_CAPTURE_UNMATCHED, 903, "capture was not ended in the same stream as it began")                      \
    E(ERROR_STREAM_CAPTURE_UNJOINED, 904, "capturing stream has unjoined work")                                         \
    E(ERROR_STREAM_CAPTURE_ISOLATION, 905, "dependency created on uncaptured work in another stream")                   \
    E(ERROR_STREAM_CAPTURE_IMPLICIT, 906, "operation would make the legacy stream depend on a capturing blocking stream") \
    E(ERROR_CAPTURED_EVENT, 907, "operation not permitted on an event last recorded in a capturing stream")             \
    E(ERROR_STREAM_CAPTURE_WRONG_THREAD, 908, "attempt to terminate a thread-local capture sequence from another thread") \
    E(ERROR_GRAPH_EXEC_UPDATE_FAILURE, 910, "the graph update was not performed because it included changes which violated constraints specific to instantiated graph update") \
    E(ERROR_UNKNOWN, 999, "unknown error")

enum CUresult : int {
#define E(name, number, text) CUDA_##name = number,
    CUDA_ERRORS(E)
#undef E
};
