// Copies of rows between any two memories.
#pragma once

#include "stream.h"

// One end of a copy: rows of a slice `pitch` bytes apart, slices `slice` bytes apart.
struct End {
    enum Kind { Host, Device, Any } kind;
    uint64_t address;
    uint64_t pitch, slice;
    AllocationRef allocation; // null: memory of the host that no device sees

    End(Kind kind, uint64_t address, uint64_t pitch = 0, uint64_t slice = 0) : kind(kind), address(address), pitch(pitch), slice(slice) {}
    static End host(const void *address) { return End(Host, reinterpret_cast<uint64_t>(address)); }
};

struct Extent {
    uint64_t width = 0, height = 1, depth = 1; // in bytes, rows, slices

    uint64_t bytes() const { return width * height * depth; }
};

// The work of a copy, or an error.
CUresult copy_work(Work &work, End to, End from, Extent extent);
// The same, described by a CUDA_MEMCPY3D.
CUresult copy_work(Work &work, const CUDA_MEMCPY3D &copy);
