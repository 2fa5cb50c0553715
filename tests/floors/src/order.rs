//! The order: the floors of crates and of the core's rooms, lowest first, and the arrows that are allowed to break it.

/// The crates of each floor and their folders. A crate depends on those of lower floors only.
pub const CRATES: &[&[(&str, &str)]] = &[
    &[("dahl-element", "dahl-element"), ("dahl-files", "dahl-files"), ("dahl-trace", "dahl-trace")],
    &[("dahl-cuda", "dahl-cuda")],
    &[("dahl-core", "dahl-core"), ("dahl-macros", "dahl-macros"), ("dahl-build", "dahl-build")],
    &[("dahl-testing", "dahl-testing")],
    &[("dahl", ".")],
    &[("dahl-nn", "dahl-nn")],
    &[("dahl-cli", "dahl-cli")],
];

/// The rooms of `dahl-core` in each floor. A room uses those of lower floors only.
pub const ROOMS: &[&[&str]] = &[
    &["sync", "array_id", "clock", "shape"],
    &["sleep", "footprint"],
    &["memory"],
    &["codelet", "error"],
    &["topology", "check"],
    &["machine"],
    &["cuda"],
    &["description"],
    &["perf"],
    &["observer", "trace"],
    &["device"],
    &["array"],
    &["task"],
    &["autotune", "scheduler", "stall"],
    &["explain", "simulation", "partition", "testing"],
    &["statistics"],
    &["config"],
    &["engine"],
    &["arena", "worker"],
    &["variants", "runtime"],
];

/// Arrows that lead upward, or from a room to one beside it, and why they may.
pub const EXCEPTIONS: &[(&[(&str, &str)], &str)] = &[
    (
        &[
            ("array", "engine"),
            ("simulation", "engine"),
            ("stall", "engine"),
            ("statistics", "engine"),
            ("task", "engine"),
        ],
        "what workers, arrays and the host share is reached from an array and its tasks",
    ),
    (
        &[("array", "task"), ("array", "partition"), ("task", "partition"), ("observer", "task")],
        "an array's state holds the chain of its tasks, and a partition the records that split and join; models see tasks",
    ),
    (
        &[("engine", "worker"), ("simulation", "worker"), ("task", "worker")],
        "an engine starts its workers; simulated ones run in virtual time; a thread that waits asks whether it is in a kernel",
    ),
    (&[("task", "stall")], "a thread that waits reports a stall"),
    (
        &[("codelet", "cuda"), ("codelet", "variants")],
        "a codelet names its kernels in CUDA, and the interface to its variants",
    ),
];

/// The most files that a circle may have.
pub const MOST_IN_A_CIRCLE: usize = 59;
