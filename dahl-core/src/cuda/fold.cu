// What the tasks of a reduction do: partial results are combined, and the last one enters the array.
//
//     fold_sum_f32:        earlier[i] = earlier[i] + later[i]
//     finish_sum_f16_f32:  target[i] = narrow(widen(target[i]) + total[i]), or narrow(total[i]) if no old value is kept
//
// and so for the largest and the smallest. One operation for each element, the same as on the CPU: the same bits.
// Where DAHL_ONE_ENTRY is defined, only the entry point is compiled whose name is, as that of a file of dahl-build's.
#include "dahl.cuh"
using namespace dahl;

struct Sum {
    static DAHL_DEVICE float of(float earlier, float later) { return earlier + later; }
    static DAHL_DEVICE double of(double earlier, double later) { return earlier + later; }
    // Integers wrap around.
    static DAHL_DEVICE uint32_t of(uint32_t earlier, uint32_t later) { return earlier + later; }
    static DAHL_DEVICE int32_t of(int32_t earlier, int32_t later) { return int32_t(uint32_t(earlier) + uint32_t(later)); }
    static DAHL_DEVICE int64_t of(int64_t earlier, int64_t later) { return int64_t(uint64_t(earlier) + uint64_t(later)); }
};
struct Max {
    template <class A> static DAHL_DEVICE A of(A earlier, A later) { return maximum(earlier, later); }
};
struct Min {
    template <class A> static DAHL_DEVICE A of(A earlier, A later) { return minimum(earlier, later); }
};

template <class Combine, class A> DAHL_DEVICE void fold(const View<A, ANY> &earlier, const View<const A, ANY> &later) {
    Elements<A> into(earlier);
    Elements<const A> from(later);
    for (size_t i = first_index(); i < into.len; i += grid_threads()) into[i] = Combine::of(into[i], from[i]);
}

template <class Combine, class T, class A>
DAHL_DEVICE void finish(const View<T, ANY> &target, const View<const A, ANY> &total, bool keep_old) {
    Elements<T> into(target);
    Elements<const A> from(total);
    for (size_t i = first_index(); i < into.len; i += grid_threads()) {
        A value = from[i];
        if (keep_old) value = Combine::of(widen(into[i]), value);
        into[i] = narrow<T>(value);
    }
}

#if !defined(DAHL_ONE_ENTRY) || defined(DAHL_ENTRY_fold_sum_f32)
extern "C" __global__ void fold_sum_f32(View<float, ANY> earlier, View<const float, ANY> later) { fold<Sum>(earlier, later); }
#endif
#if !defined(DAHL_ONE_ENTRY) || defined(DAHL_ENTRY_fold_sum_f64)
extern "C" __global__ void fold_sum_f64(View<double, ANY> earlier, View<const double, ANY> later) { fold<Sum>(earlier, later); }
#endif
#if !defined(DAHL_ONE_ENTRY) || defined(DAHL_ENTRY_fold_sum_u32)
extern "C" __global__ void fold_sum_u32(View<uint32_t, ANY> earlier, View<const uint32_t, ANY> later) { fold<Sum>(earlier, later); }
#endif
#if !defined(DAHL_ONE_ENTRY) || defined(DAHL_ENTRY_fold_sum_i32)
extern "C" __global__ void fold_sum_i32(View<int32_t, ANY> earlier, View<const int32_t, ANY> later) { fold<Sum>(earlier, later); }
#endif
#if !defined(DAHL_ONE_ENTRY) || defined(DAHL_ENTRY_fold_sum_i64)
extern "C" __global__ void fold_sum_i64(View<int64_t, ANY> earlier, View<const int64_t, ANY> later) { fold<Sum>(earlier, later); }
#endif
#if !defined(DAHL_ONE_ENTRY) || defined(DAHL_ENTRY_finish_sum_f32_f32)
extern "C" __global__ void finish_sum_f32_f32(View<float, ANY> target, View<const float, ANY> total, bool keep_old) { finish<Sum>(target, total, keep_old); }
#endif
#if !defined(DAHL_ONE_ENTRY) || defined(DAHL_ENTRY_finish_sum_f64_f64)
extern "C" __global__ void finish_sum_f64_f64(View<double, ANY> target, View<const double, ANY> total, bool keep_old) { finish<Sum>(target, total, keep_old); }
#endif
#if !defined(DAHL_ONE_ENTRY) || defined(DAHL_ENTRY_finish_sum_u32_u32)
extern "C" __global__ void finish_sum_u32_u32(View<uint32_t, ANY> target, View<const uint32_t, ANY> total, bool keep_old) { finish<Sum>(target, total, keep_old); }
#endif
#if !defined(DAHL_ONE_ENTRY) || defined(DAHL_ENTRY_finish_sum_i32_i32)
extern "C" __global__ void finish_sum_i32_i32(View<int32_t, ANY> target, View<const int32_t, ANY> total, bool keep_old) { finish<Sum>(target, total, keep_old); }
#endif
#if !defined(DAHL_ONE_ENTRY) || defined(DAHL_ENTRY_finish_sum_i64_i64)
extern "C" __global__ void finish_sum_i64_i64(View<int64_t, ANY> target, View<const int64_t, ANY> total, bool keep_old) { finish<Sum>(target, total, keep_old); }
#endif
#if !defined(DAHL_ONE_ENTRY) || defined(DAHL_ENTRY_finish_sum_f16_f32)
extern "C" __global__ void finish_sum_f16_f32(View<f16, ANY> target, View<const float, ANY> total, bool keep_old) { finish<Sum>(target, total, keep_old); }
#endif
#if !defined(DAHL_ONE_ENTRY) || defined(DAHL_ENTRY_finish_sum_bf16_f32)
extern "C" __global__ void finish_sum_bf16_f32(View<bf16, ANY> target, View<const float, ANY> total, bool keep_old) { finish<Sum>(target, total, keep_old); }
#endif
#if !defined(DAHL_ONE_ENTRY) || defined(DAHL_ENTRY_fold_max_f32)
extern "C" __global__ void fold_max_f32(View<float, ANY> earlier, View<const float, ANY> later) { fold<Max>(earlier, later); }
#endif
#if !defined(DAHL_ONE_ENTRY) || defined(DAHL_ENTRY_fold_max_f64)
extern "C" __global__ void fold_max_f64(View<double, ANY> earlier, View<const double, ANY> later) { fold<Max>(earlier, later); }
#endif
#if !defined(DAHL_ONE_ENTRY) || defined(DAHL_ENTRY_fold_max_u32)
extern "C" __global__ void fold_max_u32(View<uint32_t, ANY> earlier, View<const uint32_t, ANY> later) { fold<Max>(earlier, later); }
#endif
#if !defined(DAHL_ONE_ENTRY) || defined(DAHL_ENTRY_fold_max_i32)
extern "C" __global__ void fold_max_i32(View<int32_t, ANY> earlier, View<const int32_t, ANY> later) { fold<Max>(earlier, later); }
#endif
#if !defined(DAHL_ONE_ENTRY) || defined(DAHL_ENTRY_fold_max_i64)
extern "C" __global__ void fold_max_i64(View<int64_t, ANY> earlier, View<const int64_t, ANY> later) { fold<Max>(earlier, later); }
#endif
#if !defined(DAHL_ONE_ENTRY) || defined(DAHL_ENTRY_finish_max_f32_f32)
extern "C" __global__ void finish_max_f32_f32(View<float, ANY> target, View<const float, ANY> total, bool keep_old) { finish<Max>(target, total, keep_old); }
#endif
#if !defined(DAHL_ONE_ENTRY) || defined(DAHL_ENTRY_finish_max_f64_f64)
extern "C" __global__ void finish_max_f64_f64(View<double, ANY> target, View<const double, ANY> total, bool keep_old) { finish<Max>(target, total, keep_old); }
#endif
#if !defined(DAHL_ONE_ENTRY) || defined(DAHL_ENTRY_finish_max_u32_u32)
extern "C" __global__ void finish_max_u32_u32(View<uint32_t, ANY> target, View<const uint32_t, ANY> total, bool keep_old) { finish<Max>(target, total, keep_old); }
#endif
#if !defined(DAHL_ONE_ENTRY) || defined(DAHL_ENTRY_finish_max_i32_i32)
extern "C" __global__ void finish_max_i32_i32(View<int32_t, ANY> target, View<const int32_t, ANY> total, bool keep_old) { finish<Max>(target, total, keep_old); }
#endif
#if !defined(DAHL_ONE_ENTRY) || defined(DAHL_ENTRY_finish_max_i64_i64)
extern "C" __global__ void finish_max_i64_i64(View<int64_t, ANY> target, View<const int64_t, ANY> total, bool keep_old) { finish<Max>(target, total, keep_old); }
#endif
#if !defined(DAHL_ONE_ENTRY) || defined(DAHL_ENTRY_finish_max_f16_f32)
extern "C" __global__ void finish_max_f16_f32(View<f16, ANY> target, View<const float, ANY> total, bool keep_old) { finish<Max>(target, total, keep_old); }
#endif
#if !defined(DAHL_ONE_ENTRY) || defined(DAHL_ENTRY_finish_max_bf16_f32)
extern "C" __global__ void finish_max_bf16_f32(View<bf16, ANY> target, View<const float, ANY> total, bool keep_old) { finish<Max>(target, total, keep_old); }
#endif
#if !defined(DAHL_ONE_ENTRY) || defined(DAHL_ENTRY_fold_min_f32)
extern "C" __global__ void fold_min_f32(View<float, ANY> earlier, View<const float, ANY> later) { fold<Min>(earlier, later); }
#endif
#if !defined(DAHL_ONE_ENTRY) || defined(DAHL_ENTRY_fold_min_f64)
extern "C" __global__ void fold_min_f64(View<double, ANY> earlier, View<const double, ANY> later) { fold<Min>(earlier, later); }
#endif
#if !defined(DAHL_ONE_ENTRY) || defined(DAHL_ENTRY_fold_min_u32)
extern "C" __global__ void fold_min_u32(View<uint32_t, ANY> earlier, View<const uint32_t, ANY> later) { fold<Min>(earlier, later); }
#endif
#if !defined(DAHL_ONE_ENTRY) || defined(DAHL_ENTRY_fold_min_i32)
extern "C" __global__ void fold_min_i32(View<int32_t, ANY> earlier, View<const int32_t, ANY> later) { fold<Min>(earlier, later); }
#endif
#if !defined(DAHL_ONE_ENTRY) || defined(DAHL_ENTRY_fold_min_i64)
extern "C" __global__ void fold_min_i64(View<int64_t, ANY> earlier, View<const int64_t, ANY> later) { fold<Min>(earlier, later); }
#endif
#if !defined(DAHL_ONE_ENTRY) || defined(DAHL_ENTRY_finish_min_f32_f32)
extern "C" __global__ void finish_min_f32_f32(View<float, ANY> target, View<const float, ANY> total, bool keep_old) { finish<Min>(target, total, keep_old); }
#endif
#if !defined(DAHL_ONE_ENTRY) || defined(DAHL_ENTRY_finish_min_f64_f64)
extern "C" __global__ void finish_min_f64_f64(View<double, ANY> target, View<const double, ANY> total, bool keep_old) { finish<Min>(target, total, keep_old); }
#endif
#if !defined(DAHL_ONE_ENTRY) || defined(DAHL_ENTRY_finish_min_u32_u32)
extern "C" __global__ void finish_min_u32_u32(View<uint32_t, ANY> target, View<const uint32_t, ANY> total, bool keep_old) { finish<Min>(target, total, keep_old); }
#endif
#if !defined(DAHL_ONE_ENTRY) || defined(DAHL_ENTRY_finish_min_i32_i32)
extern "C" __global__ void finish_min_i32_i32(View<int32_t, ANY> target, View<const int32_t, ANY> total, bool keep_old) { finish<Min>(target, total, keep_old); }
#endif
#if !defined(DAHL_ONE_ENTRY) || defined(DAHL_ENTRY_finish_min_i64_i64)
extern "C" __global__ void finish_min_i64_i64(View<int64_t, ANY> target, View<const int64_t, ANY> total, bool keep_old) { finish<Min>(target, total, keep_old); }
#endif
#if !defined(DAHL_ONE_ENTRY) || defined(DAHL_ENTRY_finish_min_f16_f32)
extern "C" __global__ void finish_min_f16_f32(View<f16, ANY> target, View<const float, ANY> total, bool keep_old) { finish<Min>(target, total, keep_old); }
#endif
#if !defined(DAHL_ONE_ENTRY) || defined(DAHL_ENTRY_finish_min_bf16_f32)
extern "C" __global__ void finish_min_bf16_f32(View<bf16, ANY> target, View<const float, ANY> total, bool keep_old) { finish<Min>(target, total, keep_old); }
#endif
