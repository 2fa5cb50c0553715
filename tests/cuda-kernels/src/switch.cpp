// The one file that defines how fibers are switched, and what a library of kernels shows.
#define DAHL_ON_CPU_SWITCH
#include "entry.h"

static void fail(const char *what) { dahl::on_cpu::fail(what); }

extern "C" __attribute__((visibility("default"))) const dahl::on_cpu::Library *dahl_on_cpu_library() {
    using namespace dahl::on_cpu;
    static const Library library = {&entries(), failure, set_schedule, fail};
    return &library;
}
