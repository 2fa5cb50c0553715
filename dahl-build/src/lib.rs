//! dahl-build
