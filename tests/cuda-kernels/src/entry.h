// The table of a library of kernels: their names in a module, and the data that a driver needs to launch them.
//
// If this is included first, each entry point that dahl-build writes is added to the table.
#pragma once

#define DAHL_ON_CPU_ENTRY(name, ...) static const dahl::on_cpu::Registered<__VA_ARGS__> name##_registered(#name);

#include "dahl.cuh"

namespace dahl {
namespace on_cpu {

enum class Kind : uint32_t { Plain, View, Pointer, Scratch, Task };

// A parameter of a kernel.
struct Parameter {
    uint32_t size, align;
    Kind kind;
    int32_t rank; // of a view; ANY
    uint32_t element_bytes;
    bool is_const; // what it points to
};

struct Entry {
    const char *name;
    void (*launch)(const char *name, const unsigned *grid, const unsigned *block, size_t shared_bytes, void **parameters);
    const Parameter *parameters;
    size_t count;
};

// A library of kernels. Its functions concern the calling thread.
struct Library {
    const std::vector<Entry> *entries;
    const char *(*failure)();
    void (*set_schedule)(uint64_t schedule);
    void (*fail)(const char *what); // stops the kernel that runs; does not return
};

template <class P> struct Described {
    static constexpr Parameter parameter = {sizeof(P), alignof(P), Kind::Plain, 0, 0, false};
};
template <class T> struct Described<T *> {
    static constexpr Parameter parameter = {sizeof(T *), alignof(T *), Kind::Pointer, 0, sizeof(T), std::is_const_v<T>};
};
template <> struct Described<void *> {
    static constexpr Parameter parameter = {sizeof(void *), alignof(void *), Kind::Pointer, 0, 1, false};
};
template <class T, int RANK> struct Described<View<T, RANK>> {
    using P = View<T, RANK>;
    static constexpr Parameter parameter = {sizeof(P), alignof(P), Kind::View, RANK, sizeof(T), std::is_const_v<T>};
};
template <> struct Described<Scratch> {
    static constexpr Parameter parameter = {sizeof(Scratch), alignof(Scratch), Kind::Scratch, 0, 1, false};
};
template <> struct Described<Task> {
    static constexpr Parameter parameter = {sizeof(Task), alignof(Task), Kind::Task, 0, 1, false};
};

template <class... P> struct ParametersOf {
    // One more, since some kernels have no parameters.
    static constexpr Parameter all[sizeof...(P) + 1] = {Described<P>::parameter..., {}};
};

template <auto kernel>
void launch_entry(const char *name, const unsigned *grid, const unsigned *block, size_t shared_bytes, void **parameters) {
    launch(kernel, grid, block, shared_bytes, parameters, name);
}

template <auto kernel, class... P> Entry entry_of(const char *name, void (*)(P...)) {
    return {name, launch_entry<kernel>, ParametersOf<P...>::all, sizeof...(P)};
}

inline std::vector<Entry> &entries() {
    static std::vector<Entry> entries;
    return entries;
}

// Adds a kernel to the table when the library is loaded.
template <auto kernel> struct Registered {
    explicit Registered(const char *name) { entries().push_back(entry_of<kernel>(name, kernel)); }
};

} // namespace on_cpu
} // namespace dahl
