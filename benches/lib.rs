//! Nothing but the name of a package: its programs are the benchmarks beside this file.
