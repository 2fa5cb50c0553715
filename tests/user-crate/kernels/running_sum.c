/* running_sum: out[i] = x[0] + .. + x[i], summed in double. On contiguous elements: strided parts arrive packed. */
#include "dahl.h"

static void running_sum(dahl_in_slice x, dahl_out_slice out) {
    double sum = 0.0;
    for (size_t i = 0; i < x.len; i++) {
        sum += (double)x.data[i];
        out.data[i] = (DAHL_REAL)sum;
    }
}
