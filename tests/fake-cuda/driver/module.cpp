#include "module.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string_view>

#include "driver.h"
#include "launch.h"

extern "C" const dahl::on_cpu::Library *dahl_on_cpu_library();

// The bytes of an image for x86-64, which this library's NVRTC makes; 0 if it is none.
static size_t library_bytes(const void *image) {
    Elf64_Ehdr header;
    memcpy(&header, image, sizeof header);
    if (header.e_machine != EM_X86_64) return 0;
    return header.e_shoff + size_t(header.e_shentsize) * header.e_shnum;
}

// Opens such an image, each content once: a loaded file keeps its name, which so must not become another's.
static void *open_library(std::string_view content) {
    static std::map<std::pair<size_t, size_t>, void *> known;
    void *&loaded = known[{std::hash<std::string_view>()(content), content.size()}];
    if (loaded) return loaded;
    int file = memfd_create("kernels", MFD_CLOEXEC);
    while (file >= 0 && !content.empty()) {
        ssize_t written = write(file, content.data(), content.size());
        if (written <= 0) return nullptr;
        content.remove_prefix(size_t(written));
    }
    // The file stays open, so that its number is no other file's.
    return loaded = dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_LOCAL);
}

// Loads such an image.
static CUresult load_library(Module &module, const void *image, size_t bytes) {
    void *loaded = open_library({static_cast<const char *>(image), bytes});
    auto library = loaded ? reinterpret_cast<decltype(&dahl_on_cpu_library)>(dlsym(loaded, "dahl_on_cpu_library")) : nullptr;
    if (!library) {
        const char *why = dlerror();
        found_error(std::string("an image of kernels does not load: ") + (why ? why : "no memory"), CUDA_ERROR_INVALID_IMAGE);
        return CUDA_ERROR_INVALID_IMAGE;
    }
    module.library = library();
    return CUDA_SUCCESS;
}

static CUresult load(CUmodule *to, const void *image) {
    return in_context(Kind::Module, [&](Context &) {
        if (!to || !image) return CUDA_ERROR_INVALID_VALUE;
        auto module = std::make_unique<Module>();
        module->library = dahl_on_cpu_library();
        uint32_t magic;
        memcpy(&magic, image, sizeof magic);
        if (memcmp(image, ELFMAG, SELFMAG) == 0) {
            // Machine code of a device is not looked into: its kernels are taken for those of their names.
            size_t bytes = library_bytes(image);
            if (bytes > 0) {
                if (CUresult error = load_library(*module, image, bytes)) return error;
            }
        } else if (magic != 0xBA55ED50 && magic != 0x466243B1) { // of fatbins
            module->image = static_cast<const char *>(image);
            if (module->image.find(".version") == std::string::npos) return CUDA_ERROR_INVALID_IMAGE;
            if (module->image.find(".target") == std::string::npos) return CUDA_ERROR_INVALID_PTX;
        }
        *to = driver().add(module.release());
        return CUDA_SUCCESS;
    });
}

// Whether the image has a kernel of this name.
static bool has_entry(const Module &module, const std::string &name) {
    if (module.image.empty()) return true;
    size_t at = 0;
    while ((at = module.image.find(".entry " + name, at)) != std::string::npos) {
        at += 7 + name.size();
        char next = module.image[at];
        if (next == '(' || next == ' ' || next == '\n' || next == '\r' || next == '\t') return true;
    }
    return false;
}

static CUresult function_of(CUfunction *to, CUmodule module, const char *name) {
    return in_context(Kind::Module, [&](Context &) {
        if (!driver().has(module)) return CUDA_ERROR_INVALID_HANDLE;
        if (!to || !name) return CUDA_ERROR_INVALID_VALUE;
        auto &known = module->functions[name];
        if (!known && has_entry(*module, name)) {
            for (const auto &entry : *module->library->entries) {
                if (strcmp(entry.name, name) != 0) continue;
                known.reset(driver().add(new Function{module, &entry, module->library, {}}));
                break;
            }
            if (!known) fprintf(stderr, "fake CUDA: no kernel %s was compiled for the CPU\n", name);
        }
        *to = known.get();
        return known ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
    });
}

API cuModuleLoadData(CUmodule *module, const void *image) { return load(module, image); }
API cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned, int *, void **) { return load(module, image); }
API cuModuleLoadFatBinary(CUmodule *module, const void *image) { return load(module, image); }
API cuLibraryLoadData(CUlibrary *library, const void *image, int *, void **, unsigned, int *, void **, unsigned) { return load(library, image); }

static CUresult load_file(CUmodule *module, const char *path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
    std::ostringstream text;
    text << file.rdbuf();
    std::string image = text.str() + std::string(sizeof(Elf64_Ehdr), '\0');
    return load(module, image.data());
}
API cuModuleLoad(CUmodule *module, const char *path) { return load_file(module, path); }
API cuLibraryLoadFromFile(CUlibrary *library, const char *path, int *, void **, unsigned, int *, void **, unsigned) { return load_file(library, path); }

API cuModuleUnload(CUmodule module) {
    return initialised(Kind::Any, [&] {
        if (!driver().remove(module)) return CUDA_ERROR_INVALID_HANDLE;
        CUresult result = CUDA_SUCCESS;
        for (const auto &stream : driver().streams) {
            for (const auto &operation : stream->queue) {
                const auto &launch = operation->work.launch;
                if (!launch || launch->function->module != module || result) continue;
                result = found("a module is unloaded, and " + operation->work.label + " has not run", CUDA_ERROR_ILLEGAL_STATE);
            }
        }
        for (auto &[name, function] : module->functions) driver().remove(function.get());
        return result; // nodes of graphs may still have its functions: it is kept
    });
}
API cuLibraryUnload(CUlibrary library) { return cuModuleUnload(library); }

API cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) { return function_of(function, module, name); }
API cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name) { return function_of(kernel, library, name); }
API cuKernelGetFunction(CUfunction *function, CUkernel kernel) {
    *function = kernel;
    return CUDA_SUCCESS;
}
API cuLibraryGetModule(CUmodule *module, CUlibrary library) {
    *module = library;
    return CUDA_SUCCESS;
}
API cuFuncGetModule(CUmodule *module, CUfunction function) {
    return initialised(Kind::Any, [&] {
        if (!driver().has(function)) return CUDA_ERROR_INVALID_HANDLE;
        *module = function->module;
        return CUDA_SUCCESS;
    });
}
API cuModuleGetGlobal_v2(CUdeviceptr *, size_t *, CUmodule, const char *) { return CUDA_ERROR_NOT_FOUND; }
API cuModuleGetLoadingMode(int *mode) {
    *mode = 2; // lazy
    return CUDA_SUCCESS;
}

template <class F> static CUresult of_function(CUfunction function, F body) {
    return initialised(Kind::Any, [&] { return driver().has(function) ? body() : CUDA_ERROR_INVALID_HANDLE; });
}

API cuFuncGetName(const char **name, CUfunction function) {
    return of_function(function, [&] {
        *name = function->entry->name;
        return CUDA_SUCCESS;
    });
}

API cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *size) {
    return of_function(function, [&] {
        if (index >= function->entry->count) return CUDA_ERROR_INVALID_VALUE;
        size_t at = 0;
        for (size_t i = 0;; i++) {
            const auto &parameter = function->entry->parameters[i];
            at = (at + parameter.align - 1) / parameter.align * parameter.align;
            if (i == index) {
                *offset = at;
                if (size) *size = parameter.size;
                return CUDA_SUCCESS;
            }
            at += parameter.size;
        }
    });
}

// 0: threads of a block; 1: static shared memory; 4: registers; 5, 6: versions; 8: dynamic shared memory.
API cuFuncGetAttribute(int *value, int attribute, CUfunction function) {
    return of_function(function, [&] {
        if (attribute < 0 || attribute > 15) return CUDA_ERROR_INVALID_VALUE;
        auto known = function->attributes.find(attribute);
        static const int DEFAULTS[16] = {1024, 0, 0, 0, 32, 90, 90, 0, 48 << 10, -1};
        *value = known == function->attributes.end() ? DEFAULTS[attribute] : known->second;
        return CUDA_SUCCESS;
    });
}

API cuFuncSetAttribute(CUfunction function, int attribute, int value) {
    return of_function(function, [&] {
        if (attribute != 8 && attribute != 9) return CUDA_ERROR_INVALID_VALUE;
        if (attribute == 8 && (value < 0 || value > 227 << 10)) return CUDA_ERROR_INVALID_VALUE;
        function->attributes[attribute] = value;
        return CUDA_SUCCESS;
    });
}
API cuFuncSetCacheConfig(CUfunction function, int) {
    return of_function(function, [] { return CUDA_SUCCESS; });
}

static int active_blocks(int block_threads, size_t shared_bytes) {
    int by_threads = block_threads > 0 ? std::min(32, 2048 / block_threads) : 0;
    int by_shared = int((size_t(228) << 10) / (shared_bytes + 1024));
    return std::min(by_threads, by_shared);
}

API cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads, size_t shared_bytes) {
    return of_function(function, [&] {
        *blocks = active_blocks(threads, shared_bytes);
        return CUDA_SUCCESS;
    });
}
API cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction function, int threads, size_t shared_bytes, unsigned) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared_bytes);
}
API cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction function, CUoccupancyB2DSize shared_of, size_t shared_bytes, int limit) {
    return of_function(function, [&] {
        *block = limit > 0 && limit < 1024 ? limit : 1024;
        *grid = 4 * active_blocks(*block, shared_of ? shared_of(*block) : shared_bytes);
        return CUDA_SUCCESS;
    });
}
API cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, CUfunction function, CUoccupancyB2DSize shared_of, size_t shared_bytes, int limit, unsigned) {
    return cuOccupancyMaxPotentialBlockSize(grid, block, function, shared_of, shared_bytes, limit);
}
API cuOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, CUfunction function, int blocks, int) {
    return of_function(function, [&] {
        if (blocks <= 0) return CUDA_ERROR_INVALID_VALUE;
        *bytes = std::min(size_t(227) << 10, (size_t(228) << 10) / size_t(blocks) - 1024);
        return CUDA_SUCCESS;
    });
}
