//! dahl-nn
