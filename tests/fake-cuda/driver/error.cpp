// Names and descriptions of errors.
#include "api.h"

static const char *name_of(CUresult error) {
    switch (error) {
#define E(name, number, text)                                                                                           \
    case CUDA_##name: return "CUDA_" #name;
        CUDA_ERRORS(E)
#undef E
    }
    return nullptr;
}

static const char *text_of(CUresult error) {
    switch (error) {
#define E(name, number, text)                                                                                           \
    case CUDA_##name: return text;
        CUDA_ERRORS(E)
#undef E
    }
    return nullptr;
}

API cuGetErrorName(CUresult error, const char **name) {
    *name = name_of(error);
    return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

API cuGetErrorString(CUresult error, const char **text) {
    *text = text_of(error);
    return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
