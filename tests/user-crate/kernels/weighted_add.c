/* weighted_add: out = alpha * x + (1 - alpha) * y on matrices, which may be strided parts of larger ones.
 *
 * Shapes: x, y, out: [rows, columns]. `first_row` rows are left out: there, out = 0.
 */
#include "dahl.h"

static DAHL_REAL at(dahl_in view, size_t row, size_t column) {
    return view.data[(ptrdiff_t)row * view.strides[0] + (ptrdiff_t)column * view.strides[1]];
}

static void weighted_add(dahl_in x, dahl_in y, dahl_out out, DAHL_REAL alpha, uint32_t first_row) {
    for (size_t row = 0; row < out.extents[0]; row++) {
        for (size_t column = 0; column < out.extents[1]; column++) {
            DAHL_REAL sum = alpha * at(x, row, column) + ((DAHL_REAL)1 - alpha) * at(y, row, column);
            out.data[(ptrdiff_t)row * out.strides[0] + (ptrdiff_t)column * out.strides[1]] =
                row < first_row ? (DAHL_REAL)0 : sum;
        }
    }
}
