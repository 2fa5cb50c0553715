//! Tests of estimates.
