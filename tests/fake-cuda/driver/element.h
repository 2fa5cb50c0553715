// Elements of the types that fakes of other libraries compute with, each widened to f64.
#pragma once

#include <stdint.h>
#include <string.h>

#include "dahl.cuh"

enum class Element { F32, F64, F16, BF16, None };

inline size_t bytes_of(Element element) { return element == Element::F64 ? 8 : element == Element::F32 ? 4 : 2; }

inline const char *name_of(Element element) {
    switch (element) {
    case Element::F32: return "f32";
    case Element::F64: return "f64";
    case Element::F16: return "f16";
    case Element::BF16: return "bf16";
    default: return nullptr;
    }
}

inline double load(Element element, uint64_t at) {
    switch (element) {
    case Element::F64: return *reinterpret_cast<const double *>(at);
    case Element::F32: return *reinterpret_cast<const float *>(at);
    case Element::F16: return dahl::widen(*reinterpret_cast<const dahl::f16 *>(at));
    default: return dahl::widen(*reinterpret_cast<const dahl::bf16 *>(at));
    }
}

inline void store(Element element, uint64_t at, double value) {
    switch (element) {
    case Element::F64: *reinterpret_cast<double *>(at) = value; break;
    case Element::F32: *reinterpret_cast<float *>(at) = float(value); break;
    case Element::F16: *reinterpret_cast<dahl::f16 *>(at) = dahl::narrow<dahl::f16>(float(value)); break;
    default: *reinterpret_cast<dahl::bf16 *>(at) = dahl::narrow<dahl::bf16>(float(value)); break;
    }
}

// A number as TF32, with 10 bits of fraction. A device rounds; here bits are cut off, which is enough to show their
// loss.
inline double without_tail(double value) {
    float narrow = float(value);
    uint32_t bits;
    memcpy(&bits, &narrow, 4);
    bits &= 0xFFFFE000;
    memcpy(&narrow, &bits, 4);
    return narrow;
}
