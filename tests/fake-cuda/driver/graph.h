// Graphs of work: captured from streams or built node by node, instantiated, launched.
#pragma once

#include "launch.h"

struct Node {
    Graph *graph;
    Work work;
    std::vector<Node *> after;
};

struct Graph {
    std::vector<std::unique_ptr<Node>> nodes;

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

// Adds work to the graph that a stream captures.
CUresult capture(Stream &stream, Work work);
// A wait between streams of which one is capturing, or for an event that was captured.
CUresult capture_wait(Stream &stream, Event &event);
// A call that is not permitted on a stream that is capturing: the capture is invalidated.
CUresult refuse_in_capture(Stream &stream);
// A call that waits or allocates, which is not permitted while a stream is capturing, unless the thread has permitted
// it.
CUresult refuse_unsafe();
