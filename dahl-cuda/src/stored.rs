//! [`stored`]: the types of elements and arguments in CUDA.

/// The integers of arrays and arguments: names in Rust and in CUDA.
pub(crate) const INTEGERS: [(&str, &str); 10] = [
    ("u8", "uint8_t"),
    ("u16", "uint16_t"),
    ("u32", "uint32_t"),
    ("u64", "uint64_t"),
    ("usize", "size_t"),
    ("i8", "int8_t"),
    ("i16", "int16_t"),
    ("i32", "int32_t"),
    ("i64", "int64_t"),
    ("isize", "ptrdiff_t"),
];

/// The name in CUDA of an integer type.
pub(crate) fn integer(rust: &str) -> &'static str {
    INTEGERS.iter().find(|(name, _)| *name == rust).map_or("int32_t", |(_, cuda)| cuda)
}

/// The type in CUDA of a type by its name in Rust.
pub(crate) fn stored(rust: &str) -> &'static str {
    match rust {
        "f16" => "f16",
        "bf16" => "bf16",
        "f32" => "float",
        "f64" => "double",
        "bool" => "bool",
        other => integer(other),
    }
}
