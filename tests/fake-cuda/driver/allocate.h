// Making and freeing memory, in and outside of streams.
#pragma once

#include "stream.h"

// The allocation that has all of `bytes` from `address` on, in use. Otherwise says what is wrong, of `what`, and returns null.
AllocationRef in_use(uint64_t address, size_t bytes, const std::string &what);

// Work that frees what `allocation` is.
Work freeing(const AllocationRef &allocation);
