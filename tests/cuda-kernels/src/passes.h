// Runs the passes of an operation's kernel, with the launches that its DAHL_KERNEL says.
#pragma once

#include <tuple>
#include <type_traits>

#include "dahl.cuh"

namespace dahl {

// Of launches.
inline uint64_t min(uint64_t a, uint64_t b) { return a < b ? a : b; }
inline uint64_t max(uint64_t a, uint64_t b) { return a > b ? a : b; }

namespace on_cpu {

constexpr int MAX_PASSES = 8;

// `Plan` of launch.rs.
struct Numbers {
    unsigned grid[3], block[3];
};
struct Plan {
    uint64_t scratch;
    Numbers passes[MAX_PASSES];
    bool only_asks;
};

struct Pass {
    const char *name;
    void (*launch)(const char *name, const Numbers &numbers, void **parameters);
};

template <auto kernel> void erased(const char *name, const Numbers &numbers, void **parameters) {
    for (unsigned blocks : numbers.grid) {
        if (blocks == 0) return;
    }
    launch(kernel, numbers.grid, numbers.block, 0, parameters, name);
}

template <class P> constexpr bool is_argument = true;
template <class T, int RANK> constexpr bool is_argument<View<T, RANK>> = false;
template <> constexpr bool is_argument<Task> = false;

template <class F> struct Planned;
template <class... All> struct Planned<void (*)(All...)> {
    // All but the last, which is the plan.
    template <size_t... I> static void run(void (*plan)(All...), const Pass *passes, int count, void **given, Plan *to, std::index_sequence<I...>) {
        using Types = std::tuple<All...>;
        alignas(16) char arguments[sizeof...(I) + 1][32];
        void *parameters[sizeof...(I) + 1];
        for (size_t i = 0; i < sizeof...(I); i++) parameters[i] = arguments[i];
        find<std::tuple_element_t<I, Types>...>(given, parameters);
        plan(*static_cast<std::tuple_element_t<I, Types> *>(parameters[I])..., to);
        if (to->only_asks) return;
        for (int pass = 0; pass < count; pass++) {
            passes[pass].launch(passes[pass].name, to->passes[pass], parameters);
            if (*failure()) return;
        }
    }
    // Pointers to parameters of types `P`: `given` has one to each view, one to all arguments, and one to the task.
    template <class... P> static void find(void **given, void **parameters) {
        size_t views = (0 + ... + (!is_argument<P> && !std::is_same_v<P, Task>));
        size_t view = 0, index = 0, offset = 0;
        auto take = [&](bool is_argument, bool is_task, size_t size) {
            void *&parameter = parameters[index++];
            if (is_task) {
                parameter = given[views + 1];
            } else if (is_argument) {
                memcpy(parameter, static_cast<const char *>(given[views]) + offset, size);
                offset += size;
            } else {
                parameter = given[view++];
            }
        };
        (take(is_argument<P>, std::is_same_v<P, Task>, sizeof(P)), ...);
    }
};

template <class... All>
void run_passes(void (*plan)(All...), const Pass *passes, int count, void **given, Plan *to) {
    Planned<void (*)(All...)>::run(plan, passes, count, given, to, std::make_index_sequence<sizeof...(All) - 1>{});
}

} // namespace on_cpu
} // namespace dahl
