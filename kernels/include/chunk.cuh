// Chunk: 16 bytes, the most that a thread reads or writes by one instruction.
#pragma once

#include "dahl.cuh"

namespace dahl {

struct alignas(16) Chunk {
    uint32_t words[4];

    // Whether an array is contiguous and begins at a multiple of 16 bytes.
    template <class T> static DAHL_DEVICE bool fits(const Elements<T> &elements) {
        return elements.contiguous && reinterpret_cast<uintptr_t>(elements.view.data) % sizeof(Chunk) == 0;
    }

    // The `i`-th chunk of an array that fits.
    template <class T> static DAHL_DEVICE Chunk &of(const Elements<T> &elements, size_t i) {
        check_bounds(-1, i, elements.len * sizeof(T) / sizeof(Chunk));
        return reinterpret_cast<Chunk *>(elements.view.data)[i];
    }
    template <class T> static DAHL_DEVICE const Chunk &of(const Elements<const T> &elements, size_t i) {
        check_bounds(-1, i, elements.len * sizeof(T) / sizeof(Chunk));
        return reinterpret_cast<const Chunk *>(elements.view.data)[i];
    }

    // A chunk filled with copies of a value.
    template <class T> static DAHL_DEVICE Chunk filled(T value) {
        Chunk chunk;
#pragma unroll
        for (unsigned start = 0; start < sizeof(Chunk); start += sizeof(T)) {
            memcpy(reinterpret_cast<char *>(&chunk) + start, &value, sizeof(T));
        }
        return chunk;
    }
};

// The number of elements in a chunk.
template <class T> constexpr unsigned EACH = sizeof(Chunk) / sizeof(T);

// Whether `place` is aligned for a chunk.
DAHL_DEVICE bool is_of_chunk(const void *place) { return reinterpret_cast<uintptr_t>(place) % sizeof(Chunk) == 0; }

// The elements of the chunk that begins at `from`, by one load.
template <class T, unsigned N> DAHL_DEVICE void load_chunk(const T *from, T (&items)[N]) {
    static_assert(N == EACH<T>, "a chunk of elements");
    Chunk chunk = *reinterpret_cast<const Chunk *>(from);
    memcpy(items, &chunk, sizeof chunk);
}

// Stores the elements of a chunk by one store.
template <class T, unsigned N> DAHL_DEVICE void store_chunk(T *to, const T (&items)[N]) {
    static_assert(N == EACH<T>, "a chunk of elements");
    Chunk chunk;
    memcpy(&chunk, items, sizeof chunk);
    *reinterpret_cast<Chunk *>(to) = chunk;
}

} // namespace dahl
