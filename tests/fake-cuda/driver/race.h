// Accesses to the same memory that nothing orders.
#pragma once

#include "stream.h"

// Holds an operation that is submitted against those before it, and notes what it does. Whatever order they run in: if no stream,
// event or wait of the host orders two that touch the same bytes, one of which writes, that is an error.
CUresult check_races(const std::shared_ptr<Operation> &operation);

// The same among the nodes of a graph.
CUresult check_races(const Graph &graph);
