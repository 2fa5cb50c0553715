// Setting memory to a value.
#pragma once

#include "stream.h"

// Rows of `width` elements of 1, 2 or 4 bytes.
CUresult set_work(Work &work, CUdeviceptr to, size_t pitch, unsigned value, unsigned element_bytes, size_t width, size_t height);
