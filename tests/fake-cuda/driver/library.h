// The interface for the fakes of CUDA's other libraries: their work in a stream is checked by the same rules as a
// kernel.
#pragma once

#include <functional>
#include <vector>

#include "api.h"

// Rows of bytes that a piece of work reads or writes.
struct LibraryAccess {
    uint64_t start, row_bytes, rows, stride_bytes;
    bool writes;
    const char *what; // "parameter a": has to have been written, if it is read
};

struct LibraryWork {
    const char *label;
    std::vector<LibraryAccess> accesses;
    std::function<void()> run; // with the memory open
};

// Counts a call of the kind `library`. Returns the status with which it is to fail, or 0; or a CUDA error if the
// context is not usable.
API fake_cuda_library_call();
// Submits work to a stream.
API fake_cuda_library_work(CUstream stream, const LibraryWork *work);
