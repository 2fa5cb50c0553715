// Conflicting accesses to memory that are not ordered.
#pragma once

#include "stream.h"

// Checks an operation that is submitted against earlier ones, and records its accesses. Two operations that access the
// same bytes, one of which writes, must be ordered by a stream, an event or a wait of the host; otherwise it is an
// error, in whatever order they run.
CUresult check_races(const std::shared_ptr<Operation> &operation);

// The same among the nodes of a graph.
CUresult check_races(const Graph &graph);
