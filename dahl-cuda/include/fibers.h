// Fibers: how the threads of a kernel run on the CPU.
//
// The threads of a block are fibers of one CPU thread, so each can wait for the others anywhere, and blocks run one
// after the other. The schedule determines the order of threads and blocks (`set_schedule`): a kernel that lacks a
// barrier, or that adds floats in the order of their arrival, gives other bits under another schedule. `failure`
// returns what stopped a kernel: an index out of bounds, or threads of a block that wait at different barriers.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define VALGRIND_STACK_REGISTER(start, end) 0
#endif

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
inline thread_local dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace dahl {
namespace on_cpu {

constexpr unsigned WARP = 32;
constexpr unsigned MAX_THREADS = 1024;
constexpr size_t STACK_BYTES = 64 << 10;
// A canary at the end of each stack, to detect stack overflows.
constexpr uint64_t STACK_END = 0x6B63617473666F21;

// The state of a thread. `line` distinguishes barriers; those of a warp are shuffles and votes.
enum class State : uint8_t { Fresh, Ready, AtBlock, AtWarp, Ended };
struct Place {
    State state;
    const char *file;
    int line;

    bool is_same(const Place &other) const {
        return state == other.state && line == other.line && (file == other.file || strcmp(file, other.file) == 0);
    }
};

// A stack on which threads run one after the other, until one of them waits: it keeps the stack.
struct Fiber {
    void *stack_pointer;
    std::unique_ptr<char[]> stack;
    unsigned stack_id;
};

// The registers that a thread gives to a tensor core: its parts of two factors.
struct Fragments {
    uint32_t a[4], b[2];
};

// The block that this CPU thread runs.
struct Block {
    std::vector<std::unique_ptr<Fiber>> fibers;
    std::vector<Fiber *> idle;
    void *scheduler = nullptr;

    const char *kernel = "";
    void (*body)(void *) = nullptr;
    void *argument = nullptr;

    std::vector<unsigned> order; // of threads, under the schedule
    std::vector<Place> places;   // of each thread
    std::vector<Fiber *> of;     // the fiber that a waiting thread keeps
    std::vector<uint64_t> lanes; // what each thread gives to a shuffle
    std::vector<Fragments> fragments;
    std::vector<char> shared;
    unsigned threads = 0, started = 0, current = 0;
    unsigned fresh_end = 0; // of the order, for the running warp

    uint64_t schedule = 0;
    std::string failure;
};
inline Block &block() {
    static thread_local Block block;
    return block;
}

// Saves the callee-saved registers, and the stack pointer in `*save`; continues where `load` was saved.
extern "C" void dahl_on_cpu_switch(void **save, void *load);
extern "C" void dahl_on_cpu_enter();

[[noreturn]] void run_threads();

inline void set_thread(unsigned thread) {
    block().current = thread;
    unsigned row = thread / blockDim.x;
    threadIdx = dim3(thread % blockDim.x, row % blockDim.y, row / blockDim.y);
}

inline void to_scheduler(Fiber *fiber) { dahl_on_cpu_switch(&fiber->stack_pointer, block().scheduler); }

// Stops the kernel. Records the first failure, and abandons the fibers.
[[noreturn]] inline void fail(const std::string &what) {
    Block &b = block();
    char where[160];
    snprintf(where, sizeof where, "kernel %s, block (%u, %u, %u), thread (%u, %u, %u): ", b.kernel, blockIdx.x, blockIdx.y,
             blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z);
    b.failure = where + what;
    void *nowhere;
    dahl_on_cpu_switch(&nowhere, b.scheduler);
    abort();
}

[[noreturn]] inline void out_of_bounds(int axis, uint64_t index, uint64_t extent) {
    std::string of = axis < 0 ? std::string() : " of axis " + std::to_string(axis);
    fail("index " + std::to_string(index) + of + " is not below the extent " + std::to_string(extent));
}

// Makes the current thread wait until the others have arrived too.
inline void wait(State state, const char *file, int line) {
    Block &b = block();
    unsigned thread = b.current;
    b.places[thread] = {state, file, line};
    to_scheduler(b.of[thread]);
}

inline Fiber *idle_fiber() {
    Block &b = block();
    if (b.idle.empty()) {
        b.fibers.emplace_back(new Fiber{nullptr, std::unique_ptr<char[]>(new char[STACK_BYTES]), 0});
        Fiber *fiber = b.fibers.back().get();
        char *start = fiber->stack.get();
        memcpy(start, &STACK_END, sizeof STACK_END);
        fiber->stack_id = VALGRIND_STACK_REGISTER(start, start + STACK_BYTES);
        // In the format of `dahl_on_cpu_switch`: six registers, then the address to continue at.
        void **top = reinterpret_cast<void **>((reinterpret_cast<uintptr_t>(start) + STACK_BYTES) & ~uintptr_t(15));
        top -= 9;
        memset(top, 0, 9 * sizeof *top);
        top[6] = reinterpret_cast<void *>(dahl_on_cpu_enter);
        fiber->stack_pointer = top;
        b.idle.push_back(fiber);
    }
    Fiber *fiber = b.idle.back();
    b.idle.pop_back();
    return fiber;
}

// Runs a fiber until its thread waits, or no fresh thread is left.
inline void resume(Fiber *fiber) {
    dahl_on_cpu_switch(&block().scheduler, fiber->stack_pointer);
    uint64_t end;
    memcpy(&end, fiber->stack.get(), sizeof end);
    if (end != STACK_END) {
        fprintf(stderr, "kernel %s: a thread needs more than %zu bytes of stack\n", block().kernel, STACK_BYTES);
        abort();
    }
}

inline thread_local Fiber *starting;

// The code of every fiber.
[[noreturn]] inline void run_threads() {
    Fiber *fiber = starting;
    Block &b = block();
    for (;;) { // also when it is taken again, for another block
        if (b.started >= b.fresh_end) {
            b.idle.push_back(fiber);
            to_scheduler(fiber);
            continue;
        }
        unsigned thread = b.order[b.started++];
        b.of[thread] = fiber;
        set_thread(thread);
        b.body(b.argument);
        b.places[thread] = {State::Ended, "", 0};
    }
}

// Releases the threads from `first` up to `end` if all wait at the same barrier.
inline bool release(unsigned first, unsigned end, State state) {
    Block &b = block();
    if (b.places[first].state != state) return false;
    for (unsigned thread = first; thread < end; thread++) {
        if (!b.places[thread].is_same(b.places[first])) return false;
    }
    for (unsigned thread = first; thread < end; thread++) b.places[thread].state = State::Ready;
    return true;
}

// Lists the barriers that the threads of a block wait at, when none can continue.
inline std::string differing_barriers() {
    Block &b = block();
    std::string text = "threads wait at different barriers:";
    std::vector<bool> told(b.threads);
    for (unsigned thread = 0; thread < b.threads; thread++) {
        if (told[thread]) continue;
        const Place &place = b.places[thread];
        unsigned count = 0;
        for (unsigned other = thread; other < b.threads; other++) {
            if (!b.places[other].is_same(place)) continue;
            told[other] = true;
            count++;
        }
        text += (text.back() == ':' ? " " : ", ") + std::to_string(count) + " (thread " + std::to_string(thread);
        text += count > 1 ? " and others) " : ") ";
        const char *name = place.file ? strrchr(place.file, '/') : nullptr;
        std::string at = std::string(name ? name + 1 : place.file ? place.file : "") + ":" + std::to_string(place.line);
        text += place.state == State::Ended ? "ended" : place.state == State::AtWarp ? "in a warp at " + at : "at " + at;
    }
    return text;
}

// Runs the threads of a warp, from `first` up to `end` in the order, until all have ended or wait for the block: as far
// ahead of other warps as possible, which a device may do too. False if the kernel failed.
inline bool run_warp(unsigned first, unsigned end) {
    Block &b = block();
    b.fresh_end = end;
    while (b.started < end) {
        starting = idle_fiber();
        resume(starting);
        if (!b.failure.empty()) return false;
    }
    unsigned lowest = b.order[first] / WARP * WARP;
    do {
        for (unsigned i = first; i < end; i++) {
            unsigned thread = b.order[i];
            if (b.places[thread].state != State::Ready) continue;
            set_thread(thread);
            resume(b.of[thread]);
            if (!b.failure.empty()) return false;
        }
    } while (release(lowest, lowest + (end - first), State::AtWarp));
    return true;
}

// Runs all threads of a block; false if the kernel failed.
inline bool run_block() {
    Block &b = block();
    b.started = 0;
    b.places.assign(b.threads, Place{State::Fresh, "", 0});
    b.of.assign(b.threads, nullptr);
    do {
        for (unsigned first = 0; first < b.threads;) {
            unsigned end = first + 1;
            while (end < b.threads && b.order[end] / WARP == b.order[first] / WARP) end++;
            if (!run_warp(first, end)) return false;
            first = end;
        }
    } while (release(0, b.threads, State::AtBlock));
    for (const Place &place : b.places) {
        if (place.state == State::Ended) continue;
        char where[160];
        snprintf(where, sizeof where, "kernel %s, block (%u, %u, %u): ", b.kernel, blockIdx.x, blockIdx.y, blockIdx.z);
        b.failure = where + differing_barriers();
        return false;
    }
    return true;
}

// The numbers below `count` in the order of the schedule: ascending, descending, or random.
inline std::vector<unsigned> ordered(unsigned count, uint64_t schedule) {
    std::vector<unsigned> order(count);
    for (unsigned i = 0; i < count; i++) order[i] = schedule == 1 ? count - 1 - i : i;
    if (schedule < 2) return order;
    uint64_t state = schedule * 0x9E3779B97F4A7C15;
    for (unsigned i = count; i > 1; i--) {
        state = state * 6364136223846793005 + 1442695040888963407;
        std::swap(order[i - 1], order[(state >> 33) % i]);
    }
    return order;
}

// The threads of a block in the order of the schedule, warp by warp.
inline std::vector<unsigned> ordered_threads(unsigned threads, uint64_t schedule) {
    std::vector<unsigned> order;
    for (unsigned warp : ordered((threads + WARP - 1) / WARP, schedule)) {
        unsigned first = warp * WARP, count = threads - first < WARP ? threads - first : WARP;
        for (unsigned lane : ordered(count, schedule)) order.push_back(first + lane);
    }
    return order;
}

inline void set_schedule(uint64_t schedule) { block().schedule = schedule; }
inline const char *failure() { return block().failure.c_str(); }

inline void launch_body(const char *kernel, const unsigned *grid, const unsigned *dims, size_t shared_bytes,
                        void (*body)(void *), void *argument) {
    Block &b = block();
    b.failure.clear();
    b.kernel = kernel;
    b.body = body;
    b.argument = argument;
    gridDim = dim3(grid[0], grid[1], grid[2]);
    blockDim = dim3(dims[0], dims[1], dims[2]);
    b.threads = dims[0] * dims[1] * dims[2];
    if (b.threads == 0 || b.threads > MAX_THREADS || grid[1] > 65535 || grid[2] > 65535 || dims[2] > 64) {
        b.failure = std::string("kernel ") + kernel + ": no device takes this launch";
        return;
    }
    b.order = ordered_threads(b.threads, b.schedule);
    b.lanes.assign(b.threads, 0);
    b.fragments.assign(b.threads, Fragments());
    b.shared.assign(shared_bytes, char(0xFF));
    unsigned count = grid[0] * grid[1] * grid[2];
    for (unsigned i : ordered(count, b.schedule)) {
        unsigned row = i / grid[0];
        blockIdx = dim3(i % grid[0], row % grid[1], row / grid[1]);
        if (!run_block()) {
            // The state of the fibers is lost with their stacks.
            b.fibers.clear();
            b.idle.clear();
            return;
        }
    }
}

template <class... Parameters, size_t... I>
void call(void (*kernel)(Parameters...), void **parameters, std::index_sequence<I...>) {
    kernel(*static_cast<Parameters *>(parameters[I])...);
}

// Launches a kernel as `cuLaunchKernel` does, with pointers to its parameters, and waits for it.
template <class... Parameters>
void launch(void (*kernel)(Parameters...), const unsigned *grid, const unsigned *block, size_t shared_bytes, void **parameters,
            const char *name = "in CUDA") {
    auto body = [&] { call(kernel, parameters, std::index_sequence_for<Parameters...>{}); };
    using Body = decltype(body);
    launch_body(name, grid, block, shared_bytes, [](void *body) { (*static_cast<Body *>(body))(); }, &body);
}

} // namespace on_cpu
} // namespace dahl

// One file of a program defines DAHL_ON_CPU_SWITCH before it includes this header.
#ifdef DAHL_ON_CPU_SWITCH
#if !defined(__x86_64__)
#error "fibers are written for x86-64"
#endif
asm(R"(.text
.globl dahl_on_cpu_switch
.hidden dahl_on_cpu_switch
.type dahl_on_cpu_switch, @function
dahl_on_cpu_switch:
    push %rbp
    push %rbx
    push %r12
    push %r13
    push %r14
    push %r15
    mov %rsp, (%rdi)
    mov %rsi, %rsp
    pop %r15
    pop %r14
    pop %r13
    pop %r12
    pop %rbx
    pop %rbp
    ret
.size dahl_on_cpu_switch, . - dahl_on_cpu_switch
.globl dahl_on_cpu_enter
.hidden dahl_on_cpu_enter
.type dahl_on_cpu_enter, @function
dahl_on_cpu_enter:
    call dahl_on_cpu_run_threads
.size dahl_on_cpu_enter, . - dahl_on_cpu_enter
.section .note.GNU-stack,"",@progbits
.text
)");
extern "C" void dahl_on_cpu_run_threads() { dahl::on_cpu::run_threads(); }
extern "C" const char *dahl_on_cpu_failure() { return dahl::on_cpu::failure(); }
extern "C" void dahl_on_cpu_set_schedule(uint64_t schedule) { dahl::on_cpu::set_schedule(schedule); }
#endif
