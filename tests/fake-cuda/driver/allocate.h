// Allocating and freeing memory, inside and outside of streams.
#pragma once

#include "stream.h"

// The allocation in use that contains all of `bytes` from `address` on. If there is none, reports an error about
// `what`, and returns null.
AllocationRef in_use(uint64_t address, size_t bytes, const std::string &what);

// Work that frees an allocation.
Work freeing(const AllocationRef &allocation);
