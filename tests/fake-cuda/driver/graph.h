// Graphs of work: captured from streams or built node by node, instantiated, launched.
#pragma once

#include "launch.h"

struct Conditional;

struct Node {
    Graph *graph;
    Work work;
    std::vector<Node *> after;
    std::shared_ptr<Conditional> conditional; // whose bodies run in the place of `work`

    std::vector<Access> accesses() const;
};

struct Graph {
    std::vector<std::unique_ptr<Node>> nodes;
    Context *body_context = nullptr; // of a body of a conditional node: where its kernels run

    Node *add(Work work, std::vector<Node *> after);
    bool has(const Node *node) const;
};

// A copy of a graph, whose nodes can be found by the nodes of the original.
struct GraphExec {
    Graph graph;
    std::map<const Node *, Node *> of; // the originals, which may be gone
    // Whether it has been checked for races. While its nodes get other parameters one after the other, it may have some that
    // the last one ends.
    bool is_checked = false;
};

// Copies the nodes of a graph to another one. `of` finds a copy by the original.
void copy_nodes(const Graph &from, Graph &to, std::map<const Node *, Node *> &of);
// Adds a node after others, if work like this may be in the graph.
CUresult add_node(CUgraphNode *to, CUgraph graph, const CUgraphNode *after, size_t count, Work work);
// Runs all nodes now, in an order that the edges allow.
CUresult run_nodes(const Graph &graph);

// Adds work to the graph that a stream captures.
CUresult capture(Stream &stream, Work work);
// A wait between streams of which one is capturing, or for an event that was captured.
CUresult capture_wait(Stream &stream, Event &event);
// A call that is not permitted on a stream that is capturing: the capture is invalidated.
CUresult refuse_in_capture(Stream &stream);
// A call that waits or allocates, which is not permitted while a stream is capturing, unless the thread has permitted
// it.
CUresult refuse_unsafe();
