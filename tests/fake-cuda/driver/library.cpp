#include "library.h"

#include "allocate.h"
#include "driver.h"
#include "launch.h"

API fake_cuda_library_call() {
    return in_context(Kind::Library, [](Context &) { return CUDA_SUCCESS; });
}

API fake_cuda_library_work(CUstream handle, const LibraryWork *given) {
    return in_stream(Kind::Any, handle, [&](Stream &stream) {
        Work work;
        work.type = NODE_KERNEL;
        work.label = given->label;
        for (const LibraryAccess &access : given->accesses) {
            uint64_t extents[] = {access.rows};
            int64_t strides[] = {int64_t(access.stride_bytes)};
            Box box = Box::of(access.start, access.row_bytes, 1, extents, strides);
            if (box.is_empty()) continue;
            Interval hull = box.hull();
            auto allocation = in_use(hull.start, hull.end - hull.start, work.label + ", " + access.what);
            if (!allocation) return CUDA_ERROR_INVALID_VALUE;
            work.accesses.push_back({allocation, box, access.writes ? Mode::Write : Mode::Read, access.what});
        }
        int device = stream.context->device;
        work.run = [run = given->run, accesses = work.accesses, label = work.label, device] {
            if (CUresult error = driver().failures.next(Kind::Fault, device)) return error;
            if (CUresult error = check_content(accesses, label)) return error;
            run();
            note_written(accesses);
            return CUDA_SUCCESS;
        };
        return submit(stream, std::move(work));
    });
}
