// The kernel of `dahl-driver` that sets the values of conditional nodes.
#include "entry.h"

#include "../../../dahl-driver/src/driver/condition.cu"

DAHL_ON_CPU_ENTRY(condition, &::condition)
