#include "failure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sstream>

namespace {
struct Named {
    const char *name;
    Kind kind;
    CUresult error; // unless another is given
};
} // namespace

static const Named KINDS[] = {
    {"any", Kind::Any, CUDA_ERROR_UNKNOWN},
    {"init", Kind::Init, CUDA_ERROR_NO_DEVICE},
    {"device", Kind::Device, CUDA_ERROR_UNKNOWN},
    {"context", Kind::Context, CUDA_ERROR_OUT_OF_MEMORY},
    {"module", Kind::Module, CUDA_ERROR_NO_BINARY_FOR_GPU},
    {"alloc", Kind::Alloc, CUDA_ERROR_OUT_OF_MEMORY},
    {"host_alloc", Kind::HostAlloc, CUDA_ERROR_OUT_OF_MEMORY},
    {"free", Kind::Free, CUDA_ERROR_INVALID_VALUE},
    {"copy", Kind::Copy, CUDA_ERROR_INVALID_VALUE},
    {"set", Kind::Set, CUDA_ERROR_INVALID_VALUE},
    {"launch", Kind::Launch, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES},
    {"stream", Kind::Stream, CUDA_ERROR_OUT_OF_MEMORY},
    {"event", Kind::Event, CUDA_ERROR_OUT_OF_MEMORY},
    {"wait", Kind::Wait, CUDA_ERROR_UNKNOWN},
    {"query", Kind::Query, CUDA_ERROR_UNKNOWN},
    {"graph", Kind::Graph, CUDA_ERROR_OUT_OF_MEMORY},
    {"library", Kind::Library, CUresult(13)}, // a status of the library's: that work failed
    {"fault", Kind::Fault, CUDA_ERROR_ILLEGAL_ADDRESS},
    {"body", Kind::Body, CUDA_ERROR_LAUNCH_FAILED},
    {"lost", Kind::Lost, CUDA_ERROR_UNKNOWN},
};

Failures::Failures(const std::string &text) {
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ',');) {
        char word[32] = "";
        int length = 0;
        sscanf(part.c_str(), "%31[a-z_]%n", word, &length);
        const char *rest = part.c_str() + length;
        char *end = const_cast<char *>(rest);
        Demand demand = {Kind::Any, -1, 0, 0, CUDA_SUCCESS};
        if (*end == '@') demand.device = int(strtol(end + 1, &end, 10));
        if (*end == ':') demand.at = demand.end = strtoull(end + 1, &end, 10);
        if (*end == '-') demand.end = strtoull(end + 1, &end, 10);
        bool is_known = false;
        for (const Named &named : KINDS) {
            if (strcmp(named.name, word) != 0) continue;
            demand.kind = named.kind;
            demand.error = named.error;
            is_known = true;
        }
        if (*end == '=') demand.error = CUresult(strtol(end + 1, &end, 10));
        if (demand.kind == Kind::Lost) demand.end = UINT64_MAX;
        if (!is_known || *end || demand.at == 0 || demand.error == CUDA_SUCCESS) {
            fprintf(stderr, "fake CUDA: the failure `%s` is not understood\n", part.c_str());
            continue;
        }
        demands.push_back(demand);
    }
}

std::string Failures::calls() const {
    std::string text;
    for (const Named &named : KINDS) {
        auto found = counts.find(named.kind);
        if (found != counts.end()) text += std::string(named.name) + " " + std::to_string(found->second) + "\n";
    }
    return text;
}

CUresult Failures::next(Kind kind, int device) {
    counts[kind]++;
    CUresult error = CUDA_SUCCESS;
    for (Demand &demand : demands) {
        bool counts = demand.kind == kind || (demand.kind == Kind::Any && kind != Kind::Fault && kind != Kind::Body && kind != Kind::Lost);
        if (!counts || (demand.device >= 0 && demand.device != device)) continue;
        demand.seen++;
        if (demand.seen >= demand.at && demand.seen <= demand.end && !error) error = demand.error;
    }
    return error;
}
