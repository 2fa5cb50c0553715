#include "graph.h"

#include "conditional.h"
#include "copy.h"
#include "driver.h"
#include "race.h"
#include "set.h"

Node *Graph::add(Work work, std::vector<Node *> after) {
    nodes.push_back(std::make_unique<Node>(Node{this, std::move(work), std::move(after), nullptr}));
    return nodes.back().get();
}

bool Graph::has(const Node *node) const {
    auto is_it = [&](const auto &other) { return other.get() == node; };
    return std::any_of(nodes.begin(), nodes.end(), is_it);
}

template <class F> static CUresult of_graph(CUgraph graph, F body) {
    return in_context(Kind::Graph, [&](Context &context) { return driver().has(graph) ? body(context) : CUDA_ERROR_INVALID_HANDLE; });
}

CUresult add_node(CUgraphNode *to, CUgraph graph, const CUgraphNode *after, size_t count, Work work) {
    if (graph->body_context) {
        if (CUresult error = check_in_body(*graph, work)) return error;
    }
    for (size_t i = 0; i < count; i++) {
        if (!graph->has(after[i])) return CUDA_ERROR_INVALID_VALUE;
        if (std::find(after, after + i, after[i]) != after + i) return CUDA_ERROR_INVALID_VALUE; // no duplicates
    }
    *to = graph->add(std::move(work), std::vector<Node *>(after, after + count));
    return CUDA_SUCCESS;
}

static CUresult kernel_work(Work &work, const CUDA_KERNEL_NODE_PARAMS &p, Context &context) {
    Function *function = p.func ? p.func : p.kern;
    if (!driver().has(function)) return CUDA_ERROR_INVALID_HANDLE;
    Launch launch = {function, {p.gridDimX, p.gridDimY, p.gridDimZ}, {p.blockDimX, p.blockDimY, p.blockDimZ}, p.sharedMemBytes, {}, p.ctx ? p.ctx : &context};
    auto made = std::make_shared<Launch>(launch);
    if (CUresult error = read_parameters(*made, p.kernelParams, p.extra)) return error;
    return launch_work(work, made);
}

API cuGraphCreate(CUgraph *graph, unsigned) {
    return in_context(Kind::Graph, [&](Context &) {
        *graph = driver().add(new Graph);
        return CUDA_SUCCESS;
    });
}

API cuGraphDestroy(CUgraph graph) {
    return initialised(Kind::Any, [&] {
        if (!driver().has(graph)) return CUDA_ERROR_INVALID_HANDLE;
        if (graph->body_context) return CUDA_ERROR_INVALID_VALUE; // its node's
        driver().remove(graph);
        forget_bodies(*graph);
        delete graph;
        return CUDA_SUCCESS;
    });
}

API cuGraphAddEmptyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count) {
    return of_graph(graph, [&](Context &) { return add_node(node, graph, after, count, Work()); });
}

API cuGraphAddKernelNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count, const CUDA_KERNEL_NODE_PARAMS *parameters) {
    return of_graph(graph, [&](Context &context) {
        Work work;
        CUresult error = kernel_work(work, *parameters, context);
        return error ? error : add_node(node, graph, after, count, std::move(work));
    });
}

API cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count, const CUDA_MEMCPY3D *copy, CUcontext) {
    return of_graph(graph, [&](Context &) {
        Work work;
        CUresult error = copy_work(work, *copy);
        return error ? error : add_node(node, graph, after, count, std::move(work));
    });
}

API cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count, const CUDA_MEMSET_NODE_PARAMS *p, CUcontext) {
    return of_graph(graph, [&](Context &) {
        Work work;
        CUresult error = set_work(work, p->dst, p->pitch, p->value, p->elementSize, p->width, p->height);
        return error ? error : add_node(node, graph, after, count, std::move(work));
    });
}

API cuGraphAddHostNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count, const CUDA_HOST_NODE_PARAMS *p) {
    return of_graph(graph, [&](Context &) {
        Work work;
        work.type = NODE_HOST;
        work.label = "host function";
        work.calls_host = work.tells_host = true;
        work.run = [function = p->fn, data = p->userData] {
            function(data);
            return CUDA_SUCCESS;
        };
        return add_node(node, graph, after, count, std::move(work));
    });
}

API cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count) {
    return of_graph(graph, [&](Context &) {
        for (size_t i = 0; i < count; i++) {
            if (!graph->has(from[i]) || !graph->has(to[i])) return CUDA_ERROR_INVALID_VALUE;
            to[i]->after.push_back(from[i]);
        }
        return CUDA_SUCCESS;
    });
}
API cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, const void *, size_t count) {
    return cuGraphAddDependencies(graph, from, to, count);
}

API cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count) {
    return of_graph(graph, [&](Context &) {
        for (size_t i = 0; nodes && i < *count; i++) nodes[i] = i < graph->nodes.size() ? graph->nodes[i].get() : nullptr;
        *count = nodes ? std::min(*count, graph->nodes.size()) : graph->nodes.size();
        return CUDA_SUCCESS;
    });
}

API cuGraphGetEdges_v2(CUgraph graph, CUgraphNode *from, CUgraphNode *to, void *, size_t *count) {
    return of_graph(graph, [&](Context &) {
        size_t edges = 0;
        for (const auto &node : graph->nodes) {
            for (Node *before : node->after) {
                if (from && to && edges < *count) {
                    from[edges] = before;
                    to[edges] = node.get();
                }
                edges++;
            }
        }
        *count = from && to ? std::min(*count, edges) : edges;
        return CUDA_SUCCESS;
    });
}
API cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count) { return cuGraphGetEdges_v2(graph, from, to, nullptr, count); }

API cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type) {
    *type = node->work.type;
    return CUDA_SUCCESS;
}

void copy_nodes(const Graph &from, Graph &to, std::map<const Node *, Node *> &of) {
    for (const auto &node : from.nodes) {
        Node *copy = of[node.get()] = to.add(node->work, {});
        if (node->conditional) copy->conditional = node->conditional->copy(of);
    }
    for (const auto &node : from.nodes) {
        for (const Node *before : node->after) of[node.get()]->after.push_back(of[before]);
    }
}

API cuGraphClone(CUgraph *clone, CUgraph graph) {
    return of_graph(graph, [&](Context &) {
        if (has_conditionals(*graph)) return CUDA_ERROR_NOT_SUPPORTED;
        std::map<const Node *, Node *> of;
        *clone = driver().add(new Graph);
        copy_nodes(*graph, **clone, of);
        return CUDA_SUCCESS;
    });
}

static CUresult instantiate(CUgraphExec *exec, CUgraph graph) {
    return of_graph(graph, [&](Context &) {
        if (graph->body_context) return CUDA_ERROR_INVALID_VALUE;
        if (CUresult error = check_handles(*graph)) return error;
        auto made = std::make_unique<GraphExec>();
        copy_nodes(*graph, made->graph, made->of);
        if (CUresult error = check_races(made->graph)) return error;
        made->is_checked = true;
        *exec = driver().add(made.release());
        return CUDA_SUCCESS;
    });
}

API cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long) { return instantiate(exec, graph); }
API cuGraphInstantiate_v2(CUgraphExec *exec, CUgraph graph, CUgraphNode *, char *, size_t) { return instantiate(exec, graph); }
API cuGraphInstantiateWithParams(CUgraphExec *exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *parameters) {
    CUresult result = instantiate(exec, graph);
    parameters->result_out = result ? 1 : 0;
    return result;
}

API cuGraphExecDestroy(CUgraphExec exec) {
    return initialised(Kind::Any, [&] {
        if (!driver().remove(exec)) return CUDA_ERROR_INVALID_HANDLE;
        delete exec; // a launch that has not run has its own copy
        return CUDA_SUCCESS;
    });
}

// The nodes in an order that their edges allow, drawn from the seed.
static std::vector<const Node *> any_order(const Graph &graph) {
    std::vector<const Node *> order, left;
    std::set<const Node *> done;
    for (const auto &node : graph.nodes) left.push_back(node.get());
    bool is_random = driver().settings.seed > 1;
    while (!left.empty()) {
        std::vector<size_t> possible;
        for (size_t i = 0; i < left.size(); i++) {
            const auto &after = left[i]->after;
            if (std::all_of(after.begin(), after.end(), [&](const Node *node) { return done.count(node) > 0; })) possible.push_back(i);
        }
        size_t next = possible[is_random ? driver().random.below(unsigned(possible.size())) : 0];
        done.insert(left[next]);
        order.push_back(left[next]);
        left.erase(left.begin() + long(next));
    }
    return order;
}

CUresult run_nodes(const Graph &graph) {
    for (const Node *node : any_order(graph)) {
        CUresult error = node->conditional ? node->conditional->run() : driver().scheduler.perform(node->work);
        if (error) return error;
    }
    return CUDA_SUCCESS;
}

// All nodes of a graph as one piece of work, in an order that the seed draws.
static Work graph_work(const Graph &graph) {
    Work work;
    work.type = NODE_GRAPH;
    work.label = "graph of " + std::to_string(graph.nodes.size()) + " nodes";
    for (const auto &node : graph.nodes) {
        work.tells_host |= node->work.tells_host;
        for (Access access : node->accesses()) {
            access.what = node->work.label + (access.what.empty() ? "" : ", " + access.what);
            work.accesses.push_back(access);
        }
    }
    // The graph may change before this runs.
    auto copy = std::make_shared<Graph>();
    std::map<const Node *, Node *> of;
    copy_nodes(graph, *copy, of);
    work.run = [copy] { return run_nodes(*copy); };
    return work;
}

// The error if a graph may not be a node of another one.
static CUresult check_child(const Graph &graph, const Graph &child) {
    if (has_conditionals(child)) return CUDA_ERROR_NOT_SUPPORTED;
    for (const auto &node : child.nodes) {
        CUresult error = graph.body_context ? check_in_body(graph, node->work) : CUDA_SUCCESS;
        if (error) return error;
    }
    return CUDA_SUCCESS;
}

API cuGraphAddChildGraphNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count, CUgraph child) {
    return of_graph(graph, [&](Context &) {
        if (!driver().has(child) || child == graph) return CUDA_ERROR_INVALID_VALUE;
        if (CUresult error = check_child(*graph, *child)) return error;
        if (CUresult error = check_races(*child)) return error;
        return add_node(node, graph, after, count, graph_work(*child)); // a copy: the child may change
    });
}

API cuGraphExecChildGraphNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraph child) {
    return in_context(Kind::Graph, [&](Context &) {
        if (!driver().has(exec) || !driver().has(child)) return CUDA_ERROR_INVALID_HANDLE;
        auto found = exec->of.find(node);
        if (found == exec->of.end() || found->second->work.type != NODE_GRAPH) return CUDA_ERROR_INVALID_VALUE;
        if (CUresult error = check_child(*found->second->graph, *child)) return error;
        if (CUresult error = check_races(*child)) return error;
        Work work = graph_work(*child);
        // Only what the nodes do it to may differ.
        if (work.label != found->second->work.label) return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
        found->second->work = std::move(work);
        exec->is_checked = false;
        return CUDA_SUCCESS;
    });
}

API cuGraphLaunch(CUgraphExec exec, CUstream handle) {
    return in_stream(Kind::Launch, handle, [&](Stream &stream) {
        if (!driver().has(exec)) return CUDA_ERROR_INVALID_HANDLE;
        if (stream.capture) return refuse_in_capture(stream);
        if (!exec->is_checked) {
            if (CUresult error = check_races(exec->graph)) return error;
            exec->is_checked = true;
        }
        Work work = graph_work(exec->graph);
        work.run = [run = work.run, handles = handles_of(exec->graph)] {
            begin_conditions(handles);
            return run();
        };
        return submit(stream, std::move(work));
    });
}

API cuGraphUpload(CUgraphExec exec, CUstream handle) {
    return in_stream(Kind::Graph, handle, [&](Stream &) { return driver().has(exec) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE; });
}

// The same nodes in the same order, with the same edges; only what they do it to may differ.
static bool is_same_form(const Graph &a, const Graph &b) {
    if (a.nodes.size() != b.nodes.size()) return false;
    std::map<const Node *, size_t> of_a, of_b;
    for (size_t i = 0; i < a.nodes.size(); i++) {
        const Node &mine = *a.nodes[i], &other = *b.nodes[i];
        of_a[&mine] = of_b[&other] = i;
        if (mine.work.type != other.work.type || mine.after.size() != other.after.size()) return false;
        if (mine.conditional) return false; // handles would have to be the same too
        for (size_t j = 0; j < mine.after.size(); j++) {
            if (of_a[mine.after[j]] != of_b[other.after[j]]) return false;
        }
    }
    return true;
}

API cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info) {
    return of_graph(graph, [&](Context &) {
        if (!driver().has(exec)) return CUDA_ERROR_INVALID_HANDLE;
        bool fits = is_same_form(exec->graph, *graph);
        if (info) *info = {fits ? 0 : 2, nullptr, nullptr};
        if (!fits) return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
        for (size_t i = 0; i < graph->nodes.size(); i++) exec->graph.nodes[i]->work = graph->nodes[i]->work;
        exec->is_checked = false;
        return CUDA_SUCCESS;
    });
}

API cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *parameters) {
    return in_context(Kind::Graph, [&](Context &context) {
        if (node->work.type != NODE_KERNEL) return CUDA_ERROR_INVALID_VALUE;
        return kernel_work(node->work, *parameters, context);
    });
}

API cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *parameters) {
    return in_context(Kind::Graph, [&](Context &context) {
        if (!driver().has(exec)) return CUDA_ERROR_INVALID_HANDLE;
        auto found = exec->of.find(node);
        if (found == exec->of.end() || found->second->work.type != NODE_KERNEL) return CUDA_ERROR_INVALID_VALUE;
        Work work;
        CUresult error = kernel_work(work, *parameters, context);
        if (!error) found->second->work = std::move(work);
        exec->is_checked = false;
        return error;
    });
}

API cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D *copy, CUcontext) {
    return in_context(Kind::Graph, [&](Context &) {
        if (!driver().has(exec)) return CUDA_ERROR_INVALID_HANDLE;
        auto found = exec->of.find(node);
        if (found == exec->of.end() || found->second->work.type != NODE_MEMCPY) return CUDA_ERROR_INVALID_VALUE;
        Work work;
        CUresult error = copy_work(work, *copy);
        if (!error) found->second->work = std::move(work);
        exec->is_checked = false;
        return error;
    });
}
