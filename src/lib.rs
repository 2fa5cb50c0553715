//! dahl
