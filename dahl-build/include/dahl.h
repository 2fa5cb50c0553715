/* What a C kernel of dahl sees. `dahl_build::kernels("kernels")` in a build script compiles each kernels/NAME.c twice,
 * with DAHL_REAL as float and as double. The file defines one kernel, named as the file:
 *
 *     #include "dahl.h"
 *
 *     static void axpy(dahl_in_slice x, dahl_in_slice y, dahl_out_slice out, DAHL_REAL alpha) {
 *         for (size_t i = 0; i < out.len; i++) {
 *             out.data[i] = alpha * x.data[i] + y.data[i];
 *         }
 *     }
 *
 * Its arrays come first, in the order of the codelet's declaration: `dahl_in..` for R, `dahl_out..` for W, RW, REDUX,
 * COMMUTE and SCRATCH. Then come the plain arguments, by value: DAHL_REAL, float, double, bool, size_t, ptrdiff_t,
 * intN_t, uintN_t. All functions of the file are static: what calls the kernel is written by dahl-build. Where the
 * types must differ: DAHL_REAL_IS_FLOAT or DAHL_REAL_IS_DOUBLE is defined.
 */
#ifndef DAHL_H
#define DAHL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef DAHL_REAL
#define DAHL_REAL double /* for editors; dahl-build defines it */
#endif

/* An array that is read. Element (i, j) is data[i * strides[0] + j * strides[1]]; strides count elements. */
typedef struct {
    const DAHL_REAL *data;
    size_t rank;
    const size_t *extents;
    const ptrdiff_t *strides;
} dahl_in;

/* An array that is written. For W it may hold anything before; for REDUX it holds the identity or a partial result. */
typedef struct {
    DAHL_REAL *data;
    size_t rank;
    const size_t *extents;
    const ptrdiff_t *strides;
} dahl_out;

/* The elements of an array that is read, in row-major order and contiguous: as `&[T]` in Rust. */
typedef struct {
    const DAHL_REAL *data;
    size_t len;
} dahl_in_slice;

/* The elements of an array that is written, in row-major order and contiguous: as `&mut [T]` in Rust. */
typedef struct {
    DAHL_REAL *data;
    size_t len;
} dahl_out_slice;

/* What Rust passes. The generated callers unpack it; kernels do not use it. */
typedef struct {
    void *data;
    size_t rank;
    const size_t *extents;
    const ptrdiff_t *strides;
} dahl_raw_view;

/* The number of elements. */
static inline size_t dahl_len(size_t rank, const size_t *extents) {
    size_t len = 1;
    for (size_t axis = 0; axis < rank; axis++) {
        len *= extents[axis];
    }
    return len;
}

#endif
