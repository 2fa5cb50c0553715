// Conditional nodes of graphs: bodies that run depending on a value that kernels set.
#pragma once

#include "graph.h"

// A value that kernels set, by its handle.
struct Condition {
    Graph *graph; // whose node it is for
    Context *context;
    bool has_default; // which it gets at each launch of the graph
    unsigned default_value;
    bool is_used = false; // by a node
    // In the launch that runs.
    bool is_set = false;
    unsigned value = 0;
};

enum class BodyOf : unsigned { If, While, Switch };

struct Conditional {
    uint64_t handle;
    BodyOf type;
    int device;
    std::vector<std::unique_ptr<Graph>> bodies;
    std::vector<CUgraph> body_handles; // of the original

    // What all nodes of the bodies access.
    std::vector<Access> accesses() const;
    // A copy, whose nodes can be found by those of the original.
    std::shared_ptr<Conditional> copy(std::map<const Node *, Node *> &of) const;
    // Runs the bodies that the value calls for.
    CUresult run() const;
};

// Whether a graph, or a body of it, has conditional nodes.
bool has_conditionals(const Graph &graph);
// The error if work may not be a node of a body.
CUresult check_in_body(const Graph &body, const Work &work);
// The error if a handle of the graph, or of a body of it, has no node.
CUresult check_handles(const Graph &graph);
// A launch of the graph begins: no value has been set, but for defaults.
void begin_conditions(const std::vector<uint64_t> &handles);
std::vector<uint64_t> handles_of(const Graph &graph);
// Bodies exist as long as the graph of their node.
void forget_bodies(const Graph &graph);
