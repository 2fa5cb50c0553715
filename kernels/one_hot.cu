// one_hot: out[i, j] = 1 if labels[i] == j, else 0.                labels: [batch], out: [batch, classes]
//
// One thread for each element of the output, which is mostly zeros; the threads of a row read the same label by one
// access. A label that is none of the classes fails the task.
#include "label.cuh"

using namespace dahl;

DAHL_KERNEL(one_hot, types(L: label, T: real), grid(blocks(out.len(), 256)), block(256))
template <class L, class T> __global__ void one_hot(View<const L, 1> labels, View<T, 2> out, size_t classes, Task task) {
    for (size_t i = first_index(); i < out.len(); i += grid_threads()) {
        Division place = divide(i, classes);
        L label = labels.at(place.quotient);
        if (!is_class(label, classes)) task.fail(place.quotient);
        bool is_hot = uint64_t(label) == place.remainder;
        out.at(place.quotient, place.remainder) = narrow<T>(compute_t<T>(is_hot ? 1 : 0));
    }
}
