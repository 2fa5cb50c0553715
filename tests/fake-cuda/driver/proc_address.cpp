// Functions by name, and those that this library does not have.
#include <dlfcn.h>
#include <string.h>

#include <string>

#include "api.h"

// A name without a version stands for the newest.
static void *find(const char *name) {
    static const char *SUFFIXES[] = {"_v4", "_v3", "_v2", ""};
    Dl_info self;
    if (!dladdr(reinterpret_cast<void *>(find), &self)) return nullptr;
    void *library = dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    for (const char *suffix : SUFFIXES) {
        if (void *found = dlsym(library, (std::string(name) + suffix).c_str())) return found;
    }
    return nullptr;
}

// 0: found; 1: there is no such function.
API cuGetProcAddress_v2(const char *name, void **function, int, uint64_t, int *status) {
    *function = find(name);
    if (status) *status = *function ? 0 : 1;
    return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
API cuGetProcAddress(const char *name, void **function, int version, uint64_t flags) { return cuGetProcAddress_v2(name, function, version, flags, nullptr); }

API cuGetExportTable(const void **table, const void *) {
    *table = nullptr;
    return CUDA_ERROR_NOT_SUPPORTED;
}

#define UNSUPPORTED(name)                                                                                               \
    API name() { return CUDA_ERROR_NOT_SUPPORTED; }
#include "unsupported.inc"
