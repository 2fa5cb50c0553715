//! `f16` and `bf16`.
