#include "race.h"

#include <algorithm>

#include "conditional.h"
#include "driver.h"

static bool is_ordered(const Operation &before, const VectorClock &clock) {
    return clock.of(before.stream->number) >= before.clock.of(before.stream->number);
}

static std::string describe(const Operation &operation, const Access &access) {
    const char *does = access.mode == Mode::Read ? "reads" : access.mode == Mode::Write ? "writes" : "updates";
    return operation.work.label + " in " + operation.stream->name() + " of device " + std::to_string(operation.stream->context->device) + " (" + does +
           (access.what.empty() ? "" : " " + access.what) + ")";
}

// Whether whatever races with `past` races with `access` too.
static bool covers(const Access &access, const Access &past) {
    if (access.mode != Mode::Write && access.mode != past.mode) return false;
    Interval hull = access.box.hull(), other = past.box.hull();
    return access.box.is_contiguous() && hull.start <= other.start && other.end <= hull.end;
}

static void forget(const Operation &operation) {
    for (const Access &access : operation.work.accesses) {
        auto &past = access.allocation->past;
        auto is_its = [&](const Past &other) { return other.operation.get() == &operation; };
        past.erase(std::remove_if(past.begin(), past.end(), is_its), past.end());
    }
}

CUresult check_races(const std::shared_ptr<Operation> &operation) {
    if (!driver().settings.races) return CUDA_SUCCESS;
    const VectorClock &host = driver().scheduler.host;
    CUresult result = CUDA_SUCCESS;
    for (const Access &access : operation->work.accesses) {
        auto &past = access.allocation->past;
        for (const Past &other : past) {
            bool is_own = other.operation == operation;
            if (is_own || is_ordered(*other.operation, operation->clock) || !access.conflicts(other.access)) continue;
            result = found("a race: " + describe(*operation, access) + " and " + describe(*other.operation, other.access) +
                               " touch the same bytes of " + access.allocation->name() + ", and nothing orders them",
                           CUDA_ERROR_ILLEGAL_STATE);
            break;
        }
        // What the host waited for is before all that comes; so is what this access covers.
        auto is_over = [&](const Past &other) {
            if (is_ordered(*other.operation, host)) return true;
            return is_ordered(*other.operation, operation->clock) && covers(access, other.access);
        };
        past.erase(std::remove_if(past.begin(), past.end(), is_over), past.end());
        if (access.mode != Mode::Opened) past.push_back({access, operation});
    }
    if (result) forget(*operation); // it never runs
    return result;
}

static bool comes_after(const Node *later, const Node *earlier) {
    std::set<const Node *> seen;
    std::vector<const Node *> left = {later};
    while (!left.empty()) {
        const Node *node = left.back();
        left.pop_back();
        if (node == earlier) return true;
        if (!seen.insert(node).second) continue;
        left.insert(left.end(), node->after.begin(), node->after.end());
    }
    return false;
}

static const Access *conflict(const std::vector<Access> &a, const std::vector<Access> &b) {
    for (const Access &mine : a) {
        for (const Access &other : b) {
            if (mine.conflicts(other)) return &mine;
        }
    }
    return nullptr;
}

CUresult check_races(const Graph &graph) {
    if (!driver().settings.races) return CUDA_SUCCESS;
    std::vector<std::vector<Access>> accesses;
    for (const auto &node : graph.nodes) {
        accesses.push_back(node->accesses());
        if (!node->conditional) continue;
        for (const auto &body : node->conditional->bodies) {
            if (CUresult error = check_races(*body)) return error;
        }
    }
    for (size_t i = 0; i < graph.nodes.size(); i++) {
        for (size_t j = 0; j < i; j++) {
            const Node &a = *graph.nodes[i], &b = *graph.nodes[j];
            const Access *access = conflict(accesses[i], accesses[j]);
            if (!access || comes_after(&a, &b) || comes_after(&b, &a)) continue;
            return found("a race in a graph: " + a.work.label + " and " + b.work.label + " touch the same bytes of " + access->allocation->name() +
                             ", and no edges order them",
                         CUDA_ERROR_ILLEGAL_STATE);
        }
    }
    return CUDA_SUCCESS;
}
