/* dot: the inner product of two arrays, added to `out`.
 *
 *     out += sum over i of x[i] * y[i]
 *
 * Shapes: x and y hold equally many elements (the codelet checks it), out holds one.
 *
 * The sum is kept in double for both element types: a product of two floats is exact in double. It is kept in eight
 * independent partial sums. One sum would make each addition wait for the one before; eight are enough to hide
 * that, they let the compiler use vector instructions without reordering what the source says, and they err less
 * than one long sum.
 */
#include "dahl.h"

enum { LANES = 8 };

static void dot(dahl_in_slice x, dahl_in_slice y, dahl_out_slice out) {
    double sums[LANES] = {0.0};
    size_t whole = x.len - x.len % LANES;
    for (size_t i = 0; i < whole; i += LANES) {
        for (size_t lane = 0; lane < LANES; lane++) {
            sums[lane] += (double)x.data[i + lane] * (double)y.data[i + lane];
        }
    }
    for (size_t i = whole; i < x.len; i++) {
        sums[i - whole] += (double)x.data[i] * (double)y.data[i];
    }
    /* Added as a tree, so that no sum is added to more than three others. */
    for (size_t half = LANES / 2; half > 0; half /= 2) {
        for (size_t lane = 0; lane < half; lane++) {
            sums[lane] += sums[lane + half];
        }
    }
    out.data[0] += (DAHL_REAL)sums[0];
}
