// The one file that defines how fibers are switched.
#define DAHL_ON_CPU_SWITCH
#include "on_cpu.h"
