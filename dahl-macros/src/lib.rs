//! dahl-macros
