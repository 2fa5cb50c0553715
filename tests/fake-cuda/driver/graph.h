// Graphs of work: captured from streams or built node by node, made executable, launched.
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

// A copy of a graph, whose nodes can be found by those of the original.
struct GraphExec {
    Graph graph;
    std::map<const Node *, Node *> of; // the originals, which may be gone
};

// Adds work to the graph that a stream captures.
CUresult capture(Stream &stream, Work work);
// A wait between streams of which one captures, or for an event that was captured.
CUresult capture_wait(Stream &stream, Event &event);
// A call that no stream may be asked while it captures: the capture is lost.
CUresult refuse_in_capture(Stream &stream);
// A call that waits or allocates, and so may not be made while a stream captures, unless the thread said that it may.
CUresult refuse_unsafe();
