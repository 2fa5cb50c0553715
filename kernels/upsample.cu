// Other spatial extents by repeated or interpolated elements, and the gradients.
//
//     upsample_nearest:           out[n, c, p] = input[n, c, p * input / output], rounded down along each axis
//     upsample_nearest_backward:  out[n, c, q] = sum of the gradients of the copies of q
//     upsample_linear:            out[n, c, p] = the elements around the place of p, each times its weights along the axes
//     upsample_linear_backward:   out[n, c, q] = sum of the gradients of the points next to q, each times the weights
//
// Along an axis, the place of point p is (p + 1/2) * input / output - 1/2, at least 0, or, with aligned corners,
// p * (input - 1) / (output - 1): a fraction, so that it is exact. The element before it has the weight that is left to the
// next one, and that has the rest. An element without weight has no effect, even if it is not finite.
//
// One thread computes each element of the output. Forward it reads up to eight elements, which neighbours share in the
// cache. Backward it goes over the points whose place is next to its element: they follow each other, and their bounds are
// computed. So no two threads add to one element.
#include "volume.cuh"

using namespace dahl;

DAHL_KERNEL(upsample_nearest, types(T: real), grid(blocks(out.len(), 256)), block(256))
template <class T> __global__ void upsample_nearest(View<const T, ANY> input, View<T, ANY> out, Extents<ANY> extents) {
    View<const T, VOLUMES> from = volumes(input);
    View<T, VOLUMES> to = volumes(out);
    for_each_site(to, [&](uint64_t, uint64_t image, uint64_t channel, const Spatial &point) {
        Spatial source;
#pragma unroll
        for (int axis = 0; axis < SPATIAL; axis++) {
            source.of[axis] = divide(point[axis] * from.extents[2 + axis], to.extents[2 + axis]).quotient;
        }
        at_site(to, image, channel, point) = at_site(from, image, channel, source);
    });
}

// The points `first .. end` along each axis.
struct Points {
    Spatial first, end;

    template <class Body> DAHL_DEVICE void for_each(Body body) const {
        for (uint64_t depth = first[0]; depth < end[0]; depth++) {
            for (uint64_t row = first[1]; row < end[1]; row++) {
                for (uint64_t col = first[2]; col < end[2]; col++) body(Spatial{{depth, row, col}});
            }
        }
    }
};

DAHL_KERNEL(upsample_nearest_backward, types(T: real), grid(blocks(out.len(), 256)), block(256))
template <class T> __global__ void upsample_nearest_backward(View<const T, ANY> gradient, View<T, ANY> out, Extents<ANY> extents) {
    View<const T, VOLUMES> from = volumes(gradient);
    View<T, VOLUMES> to = volumes(out);
    for_each_site(to, [&](uint64_t, uint64_t image, uint64_t channel, const Spatial &at) {
        // Point p is a copy of q if q * points <= p * extent < (q + 1) * points.
        Points points;
#pragma unroll
        for (int axis = 0; axis < SPATIAL; axis++) {
            uint64_t count = from.extents[2 + axis], extent = to.extents[2 + axis];
            points.first.of[axis] = ceil_div(at[axis] * count, extent), points.end.of[axis] = ceil_div((at[axis] + 1) * count, extent);
        }
        compute_t<T> sum = 0;
        points.for_each([&](const Spatial &point) { sum += widen(at_site(from, image, channel, point)); });
        at_site(to, image, channel, at) = narrow<T>(sum);
    });
}

// The two elements around a point, and their weights.
template <class C> struct Between {
    uint64_t first, second;
    C near, far;

    // The weight of an element; 0 if it is neither.
    DAHL_DEVICE C of(uint64_t element) const { return (element == first ? near : C(0)) + (element == second ? far : C(0)); }
};

// An axis of `extent` elements, between which `points` points lie.
struct Line {
    uint64_t extent, points;
    bool align_corners;

    template <class C> DAHL_DEVICE Between<C> between(uint64_t point) const {
        uint64_t numerator, denominator;
        if (align_corners) {
            numerator = point * (extent - 1), denominator = points > 1 ? points - 1 : 1;
        } else {
            uint64_t place = (2 * point + 1) * extent;
            numerator = place > points ? place - points : 0, denominator = 2 * points;
        }
        Division place = divide(numerator, denominator);
        auto weight = [&](uint64_t part) { return C(double(part) / double(denominator)); };
        uint64_t second = place.quotient + 1 < extent ? place.quotient + 1 : extent - 1;
        return {place.quotient, second, weight(denominator - place.remainder), weight(place.remainder)};
    }

    // The first point whose place is not before `element`.
    DAHL_DEVICE uint64_t first_point(uint64_t element) const {
        if (element == 0) return 0;
        uint64_t point;
        if (align_corners) {
            if (extent == 1) return points; // all are at element 0
            point = ceil_div(element * (points > 1 ? points - 1 : 1), extent - 1);
        } else {
            // (2 point + 1) * extent >= (2 element + 1) * points
            point = ceil_div((2 * element + 1) * points, extent) / 2;
        }
        return point < points ? point : points;
    }
};

struct Lines {
    Line of[SPATIAL];

    template <class T, class U>
    DAHL_DEVICE Lines(const View<T, VOLUMES> &elements, const View<U, VOLUMES> &points, bool align_corners)
        : of{{elements.extents[2], points.extents[2], align_corners},
             {elements.extents[3], points.extents[3], align_corners},
             {elements.extents[4], points.extents[4], align_corners}} {}
};

DAHL_KERNEL(upsample_linear, types(T: real), grid(blocks(out.len(), 256)), block(256))
template <class T>
__global__ void upsample_linear(View<const T, ANY> input, View<T, ANY> out, Extents<ANY> extents, bool align_corners) {
    using C = compute_t<T>;
    View<const T, VOLUMES> from = volumes(input);
    View<T, VOLUMES> to = volumes(out);
    Lines lines(from, to, align_corners);
    for_each_site(to, [&](uint64_t, uint64_t image, uint64_t channel, const Spatial &point) {
        Between<C> around[SPATIAL];
#pragma unroll
        for (int axis = 0; axis < SPATIAL; axis++) around[axis] = lines.of[axis].template between<C>(point[axis]);
        C sum = 0;
#pragma unroll
        for (unsigned corner = 0; corner < 1 << SPATIAL; corner++) {
            C weight = 1;
            Spatial at;
#pragma unroll
            for (int axis = 0; axis < SPATIAL; axis++) {
                bool is_second = corner >> (SPATIAL - 1 - axis) & 1;
                weight *= is_second ? around[axis].far : around[axis].near;
                at.of[axis] = is_second ? around[axis].second : around[axis].first;
            }
            if (weight != 0) sum += weight * widen(at_site(from, image, channel, at));
        }
        at_site(to, image, channel, point) = narrow<T>(sum);
    });
}

DAHL_KERNEL(upsample_linear_backward, types(T: real), grid(blocks(out.len(), 256)), block(256))
template <class T>
__global__ void upsample_linear_backward(View<const T, ANY> gradient, View<T, ANY> out, Extents<ANY> extents, bool align_corners) {
    using C = compute_t<T>;
    View<const T, VOLUMES> from = volumes(gradient);
    View<T, VOLUMES> to = volumes(out);
    Lines lines(to, from, align_corners);
    for_each_site(to, [&](uint64_t, uint64_t image, uint64_t channel, const Spatial &at) {
        // The points between the element before and the one behind.
        Points points;
#pragma unroll
        for (int axis = 0; axis < SPATIAL; axis++) {
            points.first.of[axis] = lines.of[axis].first_point(at[axis] == 0 ? 0 : at[axis] - 1);
            points.end.of[axis] = at[axis] + 1 == to.extents[2 + axis] ? from.extents[2 + axis] : lines.of[axis].first_point(at[axis] + 1);
        }
        C sum = 0;
        points.for_each([&](const Spatial &point) {
            C weight = 1;
#pragma unroll
            for (int axis = 0; axis < SPATIAL; axis++) weight *= lines.of[axis].template between<C>(point[axis]).of(at[axis]);
            if (weight != 0) sum += weight * widen(at_site(from, image, channel, point));
        });
        at_site(to, image, channel, at) = narrow<T>(sum);
    });
}
