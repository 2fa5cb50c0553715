#include "conditional.h"

#include "driver.h"

std::vector<Access> Node::accesses() const { return conditional ? conditional->accesses() : work.accesses; }

std::vector<Access> Conditional::accesses() const {
    std::vector<Access> all;
    for (const auto &body : bodies) {
        for (const auto &node : body->nodes) {
            for (Access access : node->accesses()) {
                access.what = node->work.label + (access.what.empty() ? "" : ", " + access.what);
                all.push_back(access);
            }
        }
    }
    return all;
}

std::shared_ptr<Conditional> Conditional::copy(std::map<const Node *, Node *> &of) const {
    auto made = std::make_shared<Conditional>();
    made->handle = handle;
    made->type = type;
    made->device = device;
    for (const auto &body : bodies) {
        made->bodies.push_back(std::make_unique<Graph>());
        copy_nodes(*body, *made->bodies.back(), of);
    }
    return made;
}

static const Graph *next_body(const Conditional &node, unsigned value) {
    const auto &bodies = node.bodies;
    switch (node.type) {
    case BodyOf::If: return value ? bodies[0].get() : bodies.size() > 1 ? bodies[1].get() : nullptr;
    case BodyOf::While: return value ? bodies[0].get() : nullptr;
    case BodyOf::Switch: return value < bodies.size() ? bodies[value].get() : nullptr;
    }
    return nullptr;
}

CUresult Conditional::run() const {
    for (;;) {
        const Condition &condition = driver().conditions.at(handle);
        if (!condition.is_set) return found_error("a conditional node runs, and nothing has set its value", CUDA_ERROR_ILLEGAL_STATE);
        const Graph *body = next_body(*this, condition.value);
        if (!body) return CUDA_SUCCESS;
        if (CUresult error = driver().failures.next(Kind::Body, device)) return error;
        if (CUresult error = run_nodes(*body)) return error;
        if (type != BodyOf::While) return CUDA_SUCCESS;
    }
}

bool has_conditionals(const Graph &graph) {
    return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const auto &node) { return node->conditional != nullptr; });
}

// Kernels, copies and sets within the device or with pinned memory, graphs of such nodes, and conditional nodes.
CUresult check_in_body(const Graph &body, const Work &work) {
    switch (work.type) {
    case NODE_KERNEL: return !work.launch || work.launch->context == body.body_context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
    case NODE_MEMCPY: {
        bool is_pageable = work.accesses.size() < 2; // no allocation is known
        return is_pageable ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS;
    }
    case NODE_MEMSET:
    case NODE_GRAPH: // what it consists of was checked
    case NODE_EMPTY:
    case NODE_CONDITIONAL: return CUDA_SUCCESS;
    default: return CUDA_ERROR_NOT_SUPPORTED;
    }
}

template <class F> static void each_conditional(const Graph &graph, F see) {
    for (const auto &node : graph.nodes) {
        if (!node->conditional) continue;
        see(*node->conditional);
        for (const auto &body : node->conditional->bodies) each_conditional(*body, see);
    }
}

CUresult check_handles(const Graph &graph) {
    std::set<const Graph *> graphs = {&graph};
    each_conditional(graph, [&](const Conditional &node) {
        for (const auto &body : node.bodies) graphs.insert(body.get());
    });
    for (const auto &[handle, condition] : driver().conditions) {
        if (!condition.is_used && graphs.count(condition.graph)) return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

std::vector<uint64_t> handles_of(const Graph &graph) {
    std::vector<uint64_t> handles;
    each_conditional(graph, [&](const Conditional &node) { handles.push_back(node.handle); });
    return handles;
}

void begin_conditions(const std::vector<uint64_t> &handles) {
    for (uint64_t handle : handles) {
        Condition &condition = driver().conditions.at(handle);
        condition.is_set = condition.has_default;
        condition.value = condition.default_value;
    }
}

void forget_bodies(const Graph &graph) {
    each_conditional(graph, [](const Conditional &node) {
        for (const auto &body : node.bodies) driver().remove(body.get());
    });
}

// From CUDA 12.4 on; branches of two bodies and switches from 12.8 on.
static bool is_supported(BodyOf type, unsigned size) {
    bool is_newer = type == BodyOf::Switch || (type == BodyOf::If && size > 1);
    return driver().settings.version >= (is_newer ? 12080 : 12040);
}

API cuGraphConditionalHandleCreate(uint64_t *handle, CUgraph graph, CUcontext context, unsigned value, unsigned flags) {
    return in_context(Kind::Graph, [&](Context &current) {
        if (driver().settings.version < 12040) return CUDA_ERROR_NOT_SUPPORTED;
        if (!driver().has(graph)) return CUDA_ERROR_INVALID_HANDLE;
        if (flags > 1) return CUDA_ERROR_INVALID_VALUE;
        *handle = driver().next_id++;
        driver().conditions[*handle] = Condition{graph, context ? context : &current, (flags & 1) != 0, value};
        return CUDA_SUCCESS;
    });
}

// Other nodes have functions of their own.
API cuGraphAddNode_v2(CUgraphNode *to, CUgraph graph, const CUgraphNode *after, const void *edges, size_t count, CUgraphNodeParams *p) {
    return in_context(Kind::Graph, [&](Context &) {
        if (!driver().has(graph)) return CUDA_ERROR_INVALID_HANDLE;
        if (p->type != NODE_CONDITIONAL || edges) return CUDA_ERROR_NOT_SUPPORTED;
        auto &of = p->conditional;
        auto type = BodyOf(of.type);
        if (of.type > unsigned(BodyOf::Switch) || !is_supported(type, of.size)) return CUDA_ERROR_NOT_SUPPORTED;
        bool fits = of.size == 1 || (type == BodyOf::If && of.size == 2) || (type == BodyOf::Switch && of.size > 0);
        auto condition = driver().conditions.find(of.handle);
        if (!fits || condition == driver().conditions.end()) return CUDA_ERROR_INVALID_VALUE;
        if (condition->second.is_used || condition->second.graph != graph || condition->second.context != of.ctx) return CUDA_ERROR_INVALID_VALUE;
        auto made = std::make_shared<Conditional>();
        made->handle = of.handle;
        made->type = type;
        made->device = of.ctx->device;
        Work work;
        work.type = NODE_CONDITIONAL;
        work.label = type == BodyOf::While ? "a loop" : "a branch";
        if (CUresult error = add_node(to, graph, after, count, std::move(work))) return error;
        condition->second.is_used = true;
        for (unsigned i = 0; i < of.size; i++) {
            made->bodies.push_back(std::make_unique<Graph>());
            made->bodies.back()->body_context = of.ctx;
            made->body_handles.push_back(driver().add(made->bodies.back().get()));
        }
        of.phGraph_out = made->body_handles.data();
        (*to)->conditional = std::move(made);
        return CUDA_SUCCESS;
    });
}
API cuGraphAddNode(CUgraphNode *to, CUgraph graph, const CUgraphNode *after, size_t count, CUgraphNodeParams *p) {
    return cuGraphAddNode_v2(to, graph, after, nullptr, count, p);
}

// Called by kernels.
extern "C" void cudaGraphSetConditional(unsigned long long handle, unsigned value) {
    auto found = driver().conditions.find(handle);
    if (found == driver().conditions.end() || found->second.context != Launch::running()->context) {
        found_error("a kernel sets the value of a condition that there is not in its context", CUDA_ERROR_INVALID_VALUE);
        return;
    }
    found->second.is_set = true;
    found->second.value = value;
}
