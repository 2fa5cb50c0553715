// The interface of dahl's kernels: element types and their arithmetic, views of arrays, and how threads divide the
// work.
//
// A kernel is a template over element types. It takes a view of each array, then the arguments (`kernels/include/README.md`):
//
//     DAHL_KERNEL(scale_rows, types(T: real), grid(blocks(out.len(), 256)), block(256))
//     template <class T>
//     __global__ void scale_rows(View<const T, 2> input, View<const T, 1> factors, View<T, 2> out) {
//         for (size_t i = first_index(); i < out.len(); i += grid_threads()) {
//             size_t row = i / out.extent(1), col = i % out.extent(1);
//             out.at(row, col) = narrow<T>(widen(input.at(row, col)) * widen(factors.at(row)));
//         }
//     }
//
// nvcc, NVRTC (so no header of CUDA's is included) and, for tests, g++ with DAHL_ON_CPU compile the same text. With
// DAHL_CHECKED, an index that is out of bounds stops the kernel with a message.
#pragma once

#if defined(DAHL_ON_CPU)
#include "on_cpu.h"
#elif defined(__CUDACC_RTC__)
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;
#else
#include <stdint.h>
#include <stdio.h>
#endif

// Read by the generators of entry points and launches; empty for the compiler.
#define DAHL_KERNEL(...)

#define DAHL_DEVICE __device__ __forceinline__

namespace dahl {

// ---------------------------------------------------------------------------------------------------------------------
// Element types. Half-precision numbers are stored in 16 bits, computed as float, and rounded once.

// IEEE 754 binary16: 5 bits of exponent, 10 of fraction.
struct f16 {
    uint16_t bits;
};

// The upper half of a float: 8 bits of exponent, 7 of fraction.
struct bf16 {
    uint16_t bits;
};

// The type in which numbers of a type are computed and summed up.
template <class T> struct compute {
    using type = T;
};
template <> struct compute<f16> {
    using type = float;
};
template <> struct compute<bf16> {
    using type = float;
};
template <class T> struct compute<const T> : compute<T> {};
template <class T> using compute_t = typename compute<T>::type;

template <class To, class From> DAHL_DEVICE To bits_as(From from) {
    static_assert(sizeof(To) == sizeof(From), "bits of another number");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}

DAHL_DEVICE float widen(f16 x) {
#ifdef __CUDA_ARCH__
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(x.bits));
    return value;
#else
    uint32_t sign = uint32_t(x.bits & 0x8000) << 16, magnitude = x.bits & 0x7FFF;
    if (magnitude >= 0x7C00) return bits_as<float>(sign | 0x7F800000 | (magnitude & 0x3FF) << 13);
    // As a float with the exponent of f16: the product corrects it, for subnormal numbers too.
    float value = bits_as<float>(magnitude << 13) * bits_as<float>(uint32_t(254 - 15) << 23);
    return bits_as<float>(sign | bits_as<uint32_t>(value));
#endif
}
DAHL_DEVICE float widen(bf16 x) { return bits_as<float>(uint32_t(x.bits) << 16); }
template <class T> DAHL_DEVICE T widen(T x) { return x; }

// A number rounded to `T`, to nearest, ties to even.
template <class T> struct Narrow {
    static DAHL_DEVICE T from(T x) { return x; }
};
template <> struct Narrow<f16> {
    static DAHL_DEVICE f16 from(float x) {
        uint16_t bits;
#ifdef __CUDA_ARCH__
        asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
#else
        uint32_t whole = bits_as<uint32_t>(x), magnitude = whole & 0x7FFFFFFF;
        bits = uint16_t(whole >> 16 & 0x8000);
        if (magnitude > 0x7F800000) {
            bits |= 0x7E00;
        } else if (magnitude >= 0x47800000) { // 2^16: infinity
            bits |= 0x7C00;
        } else if (magnitude < 0x38800000) { // 2^-14: subnormal, in units of 2^-24. The sum rounds.
            float rounded = bits_as<float>(magnitude) + 0.5f;
            bits |= uint16_t(bits_as<uint32_t>(rounded) - bits_as<uint32_t>(0.5f));
        } else {
            uint32_t odd = magnitude >> 13 & 1;
            bits |= uint16_t((magnitude - (uint32_t(127 - 15) << 23) + 0xFFF + odd) >> 13);
        }
#endif
        return f16{bits};
    }
};
template <> struct Narrow<bf16> {
    static DAHL_DEVICE bf16 from(float x) {
        uint32_t bits = bits_as<uint32_t>(x);
        if (x != x) return bf16{uint16_t(bits >> 16 | 0x40)};
        return bf16{uint16_t((bits + 0x7FFF + (bits >> 16 & 1)) >> 16)};
    }
};
template <class T> DAHL_DEVICE T narrow(compute_t<T> x) { return Narrow<T>::from(x); }

// A float whose last bit is set if any bits were cut off, so that rounding it to 16 bits gives the same as rounding `x`
// (Boldo and Melquiond 2008, Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd).
DAHL_DEVICE float to_odd(double x) {
    float nearest = float(x);
    if (double(nearest) == x || x != x) return nearest;
    uint32_t bits = bits_as<uint32_t>(nearest);
    if (fabs(double(nearest)) > fabs(x)) bits -= 1;
    return bits_as<float>(bits | 1);
}

// A double rounded once to `T`.
template <class T> struct FromDouble {
    static DAHL_DEVICE T from(double x) { return T(x); }
};
template <> struct FromDouble<f16> {
    static DAHL_DEVICE f16 from(double x) { return narrow<f16>(to_odd(x)); }
};
template <> struct FromDouble<bf16> {
    static DAHL_DEVICE bf16 from(double x) { return narrow<bf16>(to_odd(x)); }
};
template <class T> DAHL_DEVICE T from_double(double x) { return FromDouble<T>::from(x); }

// Constants of an element type.
template <class T> struct Limits {
    static DAHL_DEVICE T lowest() { return T(-1) < T(0) ? T(uint64_t(1) << (8 * sizeof(T) - 1)) : T(0); }
    static DAHL_DEVICE T highest() { return T(~lowest()); }
};
template <> struct Limits<float> {
    static DAHL_DEVICE float infinity() { return bits_as<float>(uint32_t(0x7F800000)); }
    static DAHL_DEVICE float nan() { return bits_as<float>(uint32_t(0x7FC00000)); }
    static DAHL_DEVICE float lowest() { return -infinity(); }
    static DAHL_DEVICE float highest() { return infinity(); }
    static DAHL_DEVICE float min_positive() { return bits_as<float>(uint32_t(0x00800000)); }
};
template <> struct Limits<double> {
    static DAHL_DEVICE double infinity() { return bits_as<double>(uint64_t(0x7FF) << 52); }
    static DAHL_DEVICE double nan() { return bits_as<double>(uint64_t(0xFFF) << 51); }
    static DAHL_DEVICE double lowest() { return -infinity(); }
    static DAHL_DEVICE double highest() { return infinity(); }
    static DAHL_DEVICE double min_positive() { return bits_as<double>(uint64_t(1) << 52); }
};
template <> struct Limits<f16> {
    static DAHL_DEVICE f16 lowest() { return f16{0xFC00}; }
    static DAHL_DEVICE f16 highest() { return f16{0x7C00}; }
};
template <> struct Limits<bf16> {
    static DAHL_DEVICE bf16 lowest() { return bf16{0xFF80}; }
    static DAHL_DEVICE bf16 highest() { return bf16{0x7F80}; }
};

// Whether a number is NaN, the only value that differs from itself.
template <class C> DAHL_DEVICE bool is_nan(C x) { return x != x; }
DAHL_DEVICE bool is_nan(f16 x) { return (x.bits & 0x7FFF) > 0x7C00; }
DAHL_DEVICE bool is_nan(bf16 x) { return (x.bits & 0x7FFF) > 0x7F80; }

DAHL_DEVICE bool is_finite(float x) { return (bits_as<uint32_t>(x) & 0x7F800000) != 0x7F800000; }
DAHL_DEVICE bool is_finite(double x) { return (bits_as<uint64_t>(x) >> 52 & 0x7FF) != 0x7FF; }
DAHL_DEVICE bool is_finite(f16 x) { return (x.bits & 0x7C00) != 0x7C00; }
DAHL_DEVICE bool is_finite(bf16 x) { return (x.bits & 0x7F80) != 0x7F80; }

// Whether the sign bit is set, which distinguishes the two zeros; integers have only one.
DAHL_DEVICE bool is_negative(float x) { return bits_as<uint32_t>(x) >> 31; }
DAHL_DEVICE bool is_negative(double x) { return bits_as<uint64_t>(x) >> 63; }
template <class I> DAHL_DEVICE bool is_negative(I) { return false; }

// The larger of two; NaN if either is NaN, and +0 is above -0 (IEEE 754-2019, maximum). CUDA's fmax drops NaN.
template <class T> DAHL_DEVICE T maximum(T a, T b) {
    auto x = widen(a), y = widen(b);
    if (is_nan(x)) return a;
    if (is_nan(y)) return b;
    if (x == y) return is_negative(x) ? b : a;
    return x > y ? a : b;
}

// The smaller of two; NaN if either is NaN, and -0 is below +0 (IEEE 754-2019, minimum).
template <class T> DAHL_DEVICE T minimum(T a, T b) {
    auto x = widen(a), y = widen(b);
    if (is_nan(x)) return a;
    if (is_nan(y)) return b;
    if (x == y) return is_negative(x) ? a : b;
    return x < y ? a : b;
}

// ---------------------------------------------------------------------------------------------------------------------
// Views of arrays. Extents and strides count elements; strides may be negative. All arithmetic on them is in 64 bits.

constexpr int MAX_RANK = 8;
// Stands for a rank that is known at run time, at most MAX_RANK.
constexpr int ANY = -1;

[[noreturn]] DAHL_DEVICE void out_of_bounds(int axis, uint64_t index, uint64_t extent) {
#ifdef DAHL_ON_CPU
    on_cpu::out_of_bounds(axis, index, extent);
#else
    printf("index %llu of axis %d is not below the extent %llu (block %u, %u, %u, thread %u, %u, %u)\n",
           (unsigned long long)index, axis, (unsigned long long)extent, blockIdx.x, blockIdx.y, blockIdx.z,
           threadIdx.x, threadIdx.y, threadIdx.z);
    __trap();
#endif
}

DAHL_DEVICE void check_bounds(int axis, uint64_t index, uint64_t extent) {
#ifdef DAHL_CHECKED
    if (index >= extent) out_of_bounds(axis, index, extent);
#else
    (void)axis, (void)index, (void)extent;
#endif
}

// n / d and n % d; most numbers fit into 32 bits, for which a division is several times faster.
struct Division {
    uint64_t quotient, remainder;
};
DAHL_DEVICE Division divide(uint64_t n, uint64_t d) {
    if ((n | d) >> 32 == 0) return {uint32_t(n) / uint32_t(d), uint32_t(n) % uint32_t(d)};
    return {n / d, n % d};
}

// An array of `RANK` axes.
template <class T, int RANK> struct View {
    T *data;
    uint64_t extents[RANK];
    int64_t strides[RANK];

    DAHL_DEVICE int rank() const { return RANK; }
    DAHL_DEVICE size_t extent(int axis) const { return extents[axis]; }
    DAHL_DEVICE int64_t stride(int axis) const { return strides[axis]; }

    DAHL_DEVICE size_t len() const {
        size_t len = 1;
        for (int axis = 0; axis < RANK; axis++) len *= extents[axis];
        return len;
    }

    // The element at an index along each axis.
    template <class... Index> DAHL_DEVICE T &at(Index... index) const {
        static_assert(sizeof...(Index) == RANK, "an index for each axis");
        const uint64_t indices[] = {uint64_t(index)...};
        int64_t place = 0;
#pragma unroll
        for (int axis = 0; axis < RANK; axis++) {
            check_bounds(axis, indices[axis], extents[axis]);
            place += int64_t(indices[axis]) * strides[axis];
        }
        return data[place];
    }
};

// A single element.
template <class T> struct View<T, 0> {
    T *data;

    DAHL_DEVICE int rank() const { return 0; }
    DAHL_DEVICE size_t len() const { return 1; }
    DAHL_DEVICE T &at() const { return *data; }
};

// An array of any rank.
template <class T> struct View<T, ANY> {
    T *data;
    uint64_t axes;
    uint64_t extents[MAX_RANK];
    int64_t strides[MAX_RANK];

    DAHL_DEVICE int rank() const { return int(axes); }
    DAHL_DEVICE size_t extent(size_t axis) const {
        check_bounds(-1, axis, axes);
        return item(extents, axis);
    }
    DAHL_DEVICE int64_t stride(size_t axis) const { return item(strides, axis); }

    DAHL_DEVICE size_t len() const { return extents_product(0, rank()); }

    // The product of the extents of the axes from `first` up to `end`.
    DAHL_DEVICE size_t extents_product(int first, int end) const {
        size_t product = 1;
#pragma unroll
        for (int axis = 0; axis < MAX_RANK; axis++) {
            if (axis >= first && axis < end) product *= extents[axis];
        }
        return product;
    }

    // The offset of the element with row-major index `i` over the axes from `first` up to `end`.
    DAHL_DEVICE int64_t place(size_t i, int first, int end) const {
        int64_t place = 0;
#pragma unroll 1
        for (int axis = end - 1; axis >= first; axis--) {
            uint64_t extent = item(extents, axis);
            int64_t stride = item(strides, axis);
            if (axis == first) {
                check_bounds(axis, i, extent);
                return place + int64_t(i) * stride;
            }
            Division step = divide(i, extent);
            place += int64_t(step.remainder) * stride;
            i = step.quotient;
        }
        check_bounds(-1, i, 1);
        return place;
    }

    // The element with row-major index `i`.
    DAHL_DEVICE T &element(size_t i) const { return data[place(i, 0, rank())]; }

    DAHL_DEVICE bool is_contiguous() const {
        int64_t expected = 1;
        bool contiguous = true;
#pragma unroll
        for (int axis = MAX_RANK - 1; axis >= 0; axis--) {
            if (axis >= rank()) continue;
            contiguous &= extents[axis] == 1 || strides[axis] == expected;
            expected *= int64_t(extents[axis]);
        }
        return contiguous;
    }

  private:
    // One of the items, selected without an address: a compiler copies indexed arrays to each thread's local memory.
    template <class I> static DAHL_DEVICE I item(const I (&items)[MAX_RANK], size_t axis) {
        I chosen = items[0];
#pragma unroll
        for (size_t other = 1; other < MAX_RANK; other++) {
            I candidate = items[other];
            chosen = axis == other ? candidate : chosen;
        }
        return chosen;
    }
};

// The elements of an array in row-major order. Whether they are contiguous is determined once.
template <class T> struct Elements {
    // It outlives this, as a kernel's parameter does, and need not be copied.
    const View<T, ANY> &view;
    size_t len;
    bool contiguous;

    explicit DAHL_DEVICE Elements(const View<T, ANY> &view)
        : view(view), len(view.len()), contiguous(view.is_contiguous()) {}
    explicit Elements(View<T, ANY> &&) = delete;

    DAHL_DEVICE T &operator[](size_t i) const {
        if (!contiguous) return view.element(i);
        check_bounds(-1, i, len);
        return view.data[i];
    }
};

// The elements along one axis.
template <class T> struct Lane {
    T *first;
    size_t len;
    int64_t stride;

    DAHL_DEVICE T &operator[](size_t i) const {
        check_bounds(0, i, len);
        return first[int64_t(i) * stride];
    }
};

// The position of an element relative to one of the array's axes: before it, along it, and after it.
struct Position {
    size_t before, along, after;
};

// An array as lanes along one of its axes: `before * after` lanes of `extent` elements, in the row-major order of the
// other axes.
template <class T> struct Lanes {
    const View<T, ANY> &view; // the kernel's own, as of `Elements`
    int axis;
    size_t before, extent, after;
    bool contiguous;

    DAHL_DEVICE Lanes(const View<T, ANY> &view, size_t axis)
        : view(view), axis(int(axis)), before(view.extents_product(0, int(axis))), extent(view.extent(axis)),
          after(view.extents_product(int(axis) + 1, view.rank())), contiguous(view.is_contiguous()) {}
    Lanes(View<T, ANY> &&, size_t) = delete;

    DAHL_DEVICE size_t count() const { return before * after; }

    DAHL_DEVICE Lane<T> lane(size_t b, size_t a) const {
        if (contiguous) {
            check_bounds(-1, b, before);
            check_bounds(-1, a, after);
            return {view.data + b * extent * after + a, extent, int64_t(after)};
        }
        int64_t start = view.place(b, 0, axis) + view.place(a, axis + 1, view.rank());
        return {view.data + start, extent, view.stride(axis)};
    }

    DAHL_DEVICE Lane<T> operator[](size_t i) const {
        Division division = divide(i, after);
        return lane(division.quotient, division.remainder);
    }

    // The position of the element with row-major index `i`.
    DAHL_DEVICE Position position(size_t i) const {
        Division inner = divide(i, after), outer = divide(inner.quotient, extent);
        return {outer.quotient, outer.remainder, inner.remainder};
    }

    DAHL_DEVICE T &at(size_t before, size_t along, size_t after) const { return lane(before, after)[along]; }
    DAHL_DEVICE T &at(const Position &position) const { return at(position.before, position.along, position.after); }
};

// Several integers, as an argument: `[usize; N]` in Rust.
template <int N> struct Extents {
    uint64_t numbers[N];

    DAHL_DEVICE uint64_t operator[](int i) const { return numbers[i]; }
};

// As many integers as a constant parameter of the declaration says: at most MAX_RANK.
template <> struct Extents<ANY> {
    uint64_t count;
    uint64_t numbers[MAX_RANK];

    // Selected without an address, as an extent of a view of any rank is.
    DAHL_DEVICE uint64_t operator[](int i) const {
        check_bounds(-1, uint64_t(i), count);
        uint64_t chosen = numbers[0];
#pragma unroll
        for (int other = 1; other < MAX_RANK; other++) chosen = i == other ? numbers[other] : chosen;
        return chosen;
    }
};

// ---------------------------------------------------------------------------------------------------------------------
// How threads divide the work.

constexpr uint64_t MAX_BLOCKS = 1024; // About what one device runs at a time; loops stride over the rest.

__host__ DAHL_DEVICE constexpr uint64_t ceil_div(uint64_t n, uint64_t d) { return n / d + (n % d != 0); }

// The number of blocks for a loop over `n`, if a block does `per_block` at a time.
__host__ DAHL_DEVICE constexpr uint64_t blocks(uint64_t n, uint64_t per_block) {
    uint64_t all = ceil_div(n, per_block);
    return all == 0 ? 1 : all < MAX_BLOCKS ? all : MAX_BLOCKS;
}

// The index of the thread in its block, and among all threads of a one-dimensional grid.
DAHL_DEVICE unsigned thread_in_block() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
DAHL_DEVICE size_t first_index() { return size_t(blockIdx.x) * blockDim.x + threadIdx.x; }
DAHL_DEVICE size_t grid_threads() { return size_t(gridDim.x) * blockDim.x; }

// Memory that the passes of an operation share in addition to its arrays: with the size of `scratch(..)`, and
// uninitialised.
struct Scratch {
    void *memory;

    template <class S> DAHL_DEVICE S *as() const { return static_cast<S *>(memory); }
};

// The same for a kernel that can fail. Later tasks that depend on it wait until the host knows that it did not.
struct Task {
    Scratch scratch;
    // The lowest position of an index or label that is out of range; all ones if there is none. In the host's memory.
    unsigned long long *failure;

    DAHL_DEVICE operator const Scratch &() const { return scratch; }
    template <class S> DAHL_DEVICE S *scratch_as() const { return scratch.as<S>(); }

    // Makes the task fail: the index or label at `place` is out of range. The lowest position is kept, in any order of
    // threads.
    DAHL_DEVICE void fail(size_t place) const { atomicMin(failure, (unsigned long long)place); }
};

} // namespace dahl
