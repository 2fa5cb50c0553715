// The loss of the angle between two vectors that should be alike (target 1) or not (target -1), and its gradient.
//
//     cosine_embedding:           out[i] = 1 - cosine, or max(0, cosine - margin), or 0 if the target is neither
//     cosine_embedding_backward:  out[i] = slope * (right[i] - dot / left^2 * left[i]) / sqrt(left^2 * right^2)
//
// with cosine = dot / sqrt(left^2 * right^2), where left^2 and right^2 are the sums of squares + 1e-12; slope is the gradient
// with the sign of the cosine in the loss.
//
// A warp, or a block if vectors are long, takes a pair, and folds all three sums in one pass over it; backward it goes over
// the pair once more, which is cached, to write.
#include "lanes.cuh"

using namespace dahl;

// Two vectors' inner product, and their squares.
template <class C> struct Angle {
    C dot, left, right;

    static DAHL_DEVICE Angle identity() { return {C(0), C(0), C(0)}; }
    DAHL_DEVICE void add(C a, C b) {
        dot += a * b;
        left += a * a;
        right += b * b;
    }
    DAHL_DEVICE void merge(const Angle &later) {
        dot += later.dot;
        left += later.left;
        right += later.right;
    }

    // That of a pair that threads share; all of them must call it.
    template <class T> static DAHL_DEVICE Angle between(const LaneShare &share, const Lane<const T> &left, const Lane<const T> &right) {
        Angle angle = identity();
        for (size_t i = share.first; i < share.end; i += share.step) angle.add(widen(left[i]), widen(right[i]));
        angle = share.fold(angle);
        angle.left += C(1e-12), angle.right += C(1e-12);
        return angle;
    }
    DAHL_DEVICE C lengths() const { return sqrt(left * right); }
    DAHL_DEVICE C cosine() const { return dot / lengths(); }
};

DAHL_KERNEL(cosine_embedding, types(T: real), grid(blocks(out.len(), 8)), block(32, 8))
template <class T>
__global__ void cosine_embedding(View<const T, 2> left, View<const T, 2> right, View<const T, 1> target, View<T, 1> out, double margin) {
    using C = compute_t<T>;
    for_each_lane(left.extent(0), left.extent(1), 1, [&](const LaneShare &share, size_t pair) {
        auto angle = Angle<C>::between(share, row_of(left, pair), row_of(right, pair));
        if (!share.leads) return;
        C wanted = widen(target.at(pair)), above = angle.cosine() - C(margin);
        C loss = wanted == 1 ? C(1) - angle.cosine() : wanted != -1 || above < 0 ? C(0) : above;
        out.at(pair) = narrow<T>(loss);
    });
}

DAHL_KERNEL(cosine_embedding_backward, types(T: real), grid(blocks(target.len(), 8)), block(32, 8))
template <class T>
__global__ void cosine_embedding_backward(View<const T, 2> left, View<const T, 2> right, View<const T, 1> target, View<const T, 1> gradient,
                                          View<T, 2> out, double margin) {
    using C = compute_t<T>;
    for_each_lane(left.extent(0), left.extent(1), 1, [&](const LaneShare &share, size_t pair) {
        Lane<const T> a = row_of(left, pair), b = row_of(right, pair);
        Lane<T> results = row_of(out, pair);
        auto angle = Angle<C>::between(share, a, b);
        C wanted = widen(target.at(pair)), by_loss = widen(gradient.at(pair));
        C slope = wanted == 1 ? -by_loss : wanted != -1 || angle.cosine() - C(margin) < 0 ? C(0) : by_loss;
        slope /= angle.lengths();
        C part = angle.dot / angle.left;
        for (size_t i = share.first; i < share.end; i += share.step) {
            results[i] = narrow<T>(slope * (widen(b[i]) - part * widen(a[i])));
        }
    });
}
