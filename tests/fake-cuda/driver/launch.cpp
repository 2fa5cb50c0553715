#include "launch.h"

#include <string.h>

#include "driver.h"

using dahl::on_cpu::Parameter;

CUresult read_parameters(Launch &launch, void **parameters, void **extra) {
    const auto &entry = *launch.function->entry;
    const char *buffer = nullptr;
    size_t buffer_bytes = 0;
    // Pairs of what follows and where it is; 0 ends them.
    for (; !parameters && extra && *extra; extra += 2) {
        if (*extra == reinterpret_cast<void *>(1)) buffer = static_cast<const char *>(extra[1]);
        if (*extra == reinterpret_cast<void *>(2)) buffer_bytes = *static_cast<size_t *>(extra[1]);
    }
    if (!parameters && !buffer && entry.count > 0) return CUDA_ERROR_INVALID_VALUE;
    size_t offset = 0;
    launch.parameters.clear();
    for (size_t i = 0; i < entry.count; i++) {
        const Parameter &parameter = entry.parameters[i];
        std::vector<uint64_t> words((parameter.size + 7) / 8);
        offset = (offset + parameter.align - 1) / parameter.align * parameter.align;
        if (!parameters && offset + parameter.size > buffer_bytes) return CUDA_ERROR_INVALID_VALUE;
        if (parameters && !parameters[i]) return CUDA_ERROR_INVALID_VALUE;
        memcpy(words.data(), parameters ? parameters[i] : buffer + offset, parameter.size);
        offset += parameter.size;
        launch.parameters.push_back(std::move(words));
    }
    return CUDA_SUCCESS;
}

CUresult Launch::check() const {
    const unsigned most_blocks[] = {0x7FFFFFFF, 65535, 65535}, most_threads[] = {1024, 1024, 64};
    uint64_t threads = 1;
    for (int axis = 0; axis < 3; axis++) {
        if (grid[axis] == 0 || grid[axis] > most_blocks[axis]) return CUDA_ERROR_INVALID_VALUE;
        if (block[axis] == 0 || block[axis] > most_threads[axis]) return CUDA_ERROR_INVALID_VALUE;
        threads *= block[axis];
    }
    if (threads > 1024) return CUDA_ERROR_INVALID_VALUE;
    auto most_shared = function->attributes.find(8);
    size_t allowed = most_shared == function->attributes.end() ? 48 << 10 : size_t(most_shared->second);
    return shared_bytes > allowed ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

// The bytes of a view, as `dahl.cuh` lays it out.
static Box box_of(const Parameter &parameter, const std::vector<uint64_t> &words) {
    bool is_any = parameter.rank == dahl::ANY;
    int rank = is_any ? int(words[1]) : parameter.rank, room = is_any ? dahl::MAX_RANK : rank;
    if (rank > dahl::MAX_RANK) return {};
    const uint64_t *extents = words.data() + (is_any ? 2 : 1);
    int64_t strides[dahl::MAX_RANK];
    for (int axis = 0; axis < rank; axis++) strides[axis] = int64_t(extents[room + axis]) * parameter.element_bytes;
    return Box::of(words[0], parameter.element_bytes, rank, extents, strides);
}

static bool may_access(const Context &context, const Allocation &allocation) {
    if (!allocation.is_device() || allocation.device == context.device) return true;
    if (allocation.pool) return allocation.pool->readers.count(context.device) > 0;
    return context.peers.count(allocation.context) > 0;
}

namespace {
// Finds the allocations of a launch's parameters.
struct Finder {
    const Launch &launch;
    std::vector<Access> accesses;
    std::string fault;

    // Memory from `address` on; all that is left of the allocation if no box is given.
    void find(uint64_t address, const Box *box, Mode mode, const std::string &what) {
        auto found = driver().memory->find(address);
        Interval hull = box ? box->hull() : Interval{address, address};
        std::string problem;
        if (!found || found->freed) {
            problem = driver().memory->about(address);
        } else if (hull.start < found->start || hull.end > found->end()) {
            problem = "bytes " + std::to_string(int64_t(hull.start - found->start)) + " to " + std::to_string(hull.end - found->start) + " of " + found->name();
        } else if (!may_access(*launch.context, *found)) {
            problem = found->name() + ", to which device " + std::to_string(launch.context->device) + " has no access";
        } else {
            accesses.push_back({found, box ? *box : Box::bytes(address, found->end() - address), mode, what});
        }
        if (!problem.empty() && fault.empty()) fault = what + ": " + problem;
    }
};
} // namespace

std::vector<Access> Launch::accesses(std::string &fault) const {
    Finder finder{*this, {}, ""};
    for (size_t i = 0; i < function->entry->count; i++) {
        const Parameter &parameter = function->entry->parameters[i];
        const std::vector<uint64_t> &words = parameters[i];
        Mode mode = parameter.is_const ? Mode::Read : Mode::Write;
        std::string what = "parameter " + std::to_string(i);
        switch (parameter.kind) {
        case dahl::on_cpu::Kind::Plain: break;
        case dahl::on_cpu::Kind::View: {
            Box box = box_of(parameter, words);
            if (!box.is_empty()) finder.find(box.start, &box, mode, what);
            break;
        }
        case dahl::on_cpu::Kind::Pointer:
            if (words[0]) finder.find(words[0], nullptr, mode, what);
            break;
        case dahl::on_cpu::Kind::Scratch:
        case dahl::on_cpu::Kind::Task: {
            if (words[0]) finder.find(words[0], nullptr, Mode::Opened, "the scratch memory");
            if (parameter.kind == dahl::on_cpu::Kind::Scratch) break;
            Box failure = Box::bytes(words[1], 8);
            if (words[1]) finder.find(words[1], &failure, Mode::Atomic, "the place of a failure");
            break;
        }
        }
    }
    fault = finder.fault;
    return finder.accesses;
}

Launch *&Launch::running() {
    static thread_local Launch *running = nullptr;
    return running;
}

void Launch::fault(uint64_t address) {
    std::string what = "an illegal address, " + driver().memory->about(address);
    running() = nullptr;
    function->library->fail(what.c_str());
}

CUresult Launch::run() {
    uint64_t seed = driver().settings.seed;
    const auto &library = *function->library;
    library.set_schedule(seed < 2 ? seed : driver().random.below(1000));
    std::vector<void *> pointers;
    for (auto &words : parameters) pointers.push_back(words.data());
    running() = this;
    function->entry->launch(function->entry->name, grid, block, shared_bytes, pointers.data());
    running() = nullptr;
    std::string failure = library.failure();
    if (failure.empty()) return CUDA_SUCCESS;
    bool is_address = failure.find("an illegal address") != std::string::npos;
    return found_error(failure, is_address ? CUDA_ERROR_ILLEGAL_ADDRESS : CUDA_ERROR_LAUNCH_FAILED);
}

CUresult check_content(const std::vector<Access> &accesses, const std::string &label) {
    if (!driver().settings.uninitialised) return CUDA_SUCCESS;
    for (const Access &access : accesses) {
        bool is_known = access.mode == Mode::Read && access.allocation->is_device() && access.what.compare(0, 9, "parameter") == 0;
        if (!is_known || access.box.intervals() > Box::LIMIT) continue;
        for (Interval interval : access.box.each()) {
            uint64_t missing = access.allocation->initialised.first_missing(interval);
            if (missing == interval.end) continue;
            return found(label + " reads what nothing has written: " + access.what + ", byte " + std::to_string(missing - access.allocation->start) + " of " +
                             access.allocation->name(),
                         CUDA_ERROR_ILLEGAL_ADDRESS);
        }
    }
    return CUDA_SUCCESS;
}

void note_written(const std::vector<Access> &accesses) {
    for (const Access &access : accesses) {
        if (access.mode == Mode::Read || !access.allocation->is_device()) continue;
        for (Interval interval : access.box.each()) access.allocation->initialised.add(interval);
    }
}

CUresult launch_work(Work &work, std::shared_ptr<Launch> launch) {
    if (CUresult error = launch->check()) return error;
    work.type = NODE_KERNEL;
    work.label = std::string("kernel ") + launch->function->entry->name;
    work.launch = launch;
    std::string fault;
    work.accesses = launch->accesses(fault);
    if (!fault.empty()) fault = work.label + " gets an illegal address, " + fault;
    std::string label = work.label;
    work.run = [=, accesses = work.accesses] {
        if (!fault.empty()) return found_error(fault, CUDA_ERROR_ILLEGAL_ADDRESS);
        if (CUresult error = driver().failures.next(Kind::Fault, launch->context->device)) return error;
        if (CUresult error = check_content(accesses, label)) return error;
        if (CUresult error = launch->run()) return error;
        note_written(accesses);
        return CUDA_SUCCESS;
    };
    return CUDA_SUCCESS;
}

API cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared_bytes, CUstream handle,
                   void **parameters, void **extra) {
    return in_stream(Kind::Launch, handle, [&](Stream &stream) {
        if (!driver().has(function)) return CUDA_ERROR_INVALID_HANDLE;
        auto launch = std::make_shared<Launch>(Launch{function, {gx, gy, gz}, {bx, by, bz}, shared_bytes, {}, stream.context});
        if (CUresult error = read_parameters(*launch, parameters, extra)) return error;
        Work work;
        if (CUresult error = launch_work(work, launch)) return error;
        return submit(stream, std::move(work));
    });
}

API cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction function, void **parameters, void **extra) {
    return cuLaunchKernel(function, c->gridDimX, c->gridDimY, c->gridDimZ, c->blockDimX, c->blockDimY, c->blockDimZ, c->sharedMemBytes, c->hStream, parameters,
                          extra);
}

// Blocks run one after the other, so that kernels which wait for other blocks are not for this library.
API cuLaunchCooperativeKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **) {
    return CUDA_ERROR_NOT_SUPPORTED;
}
