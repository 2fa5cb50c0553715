//! The order: the floors of crates and of the core's rooms, lowest first, and the arrows that are allowed to break it.

/// The crates of each floor and their folders. A crate depends on those of lower floors only.
pub const CRATES: &[&[(&str, &str)]] = &[
    &[
        ("dahl-element", "dahl-element"),
        ("dahl-energy", "dahl-energy"),
        ("dahl-expression", "dahl-expression"),
        ("dahl-files", "dahl-files"),
        ("dahl-plan", "dahl-plan"),
    ],
    &[("dahl-cuda", "dahl-cuda"), ("dahl-trace", "dahl-trace")],
    &[("dahl-driver", "dahl-driver")],
    &[("dahl-core", "dahl-core"), ("dahl-macros", "dahl-macros"), ("dahl-build", "dahl-build")],
    &[("dahl-testing", "dahl-testing"), ("dahl-program", "dahl-program"), ("dahl-ranks", "dahl-ranks")],
    &[("dahl", ".")],
    &[("dahl-nn", "dahl-nn")],
    &[("dahl-cli", "dahl-cli")],
];

/// The top-level modules of `dahl-core` on each floor. A module uses those of lower floors only.
pub const ROOMS: &[&[&str]] = &[
    &["sync", "array_id", "clock", "shape"],
    &["sleep", "footprint", "float_control", "fork", "metering"],
    &["memory", "ranks"],
    &["codelet", "error"],
    &["topology", "check", "expression"],
    &["machine"],
    &["cuda"],
    &["description"],
    &["perf"],
    &["observer", "trace", "explain", "autotune"],
    &["device"],
    &["platform"],
    &["graph"],
    &["task"],
    &["array", "scheduler", "stall", "statistics"],
    &["partition", "config"],
    &["engine"],
    &["worker"],
    &["simulation"],
    &["executor"],
    &["submission"],
    &["arena", "testing"],
    &["tape"],
    &["variants", "runtime"],
    &["program"],
];

/// Arrows that lead upward, or to a module on the same floor, and the reasons for them.
pub const EXCEPTIONS: &[(&[(&str, &str)], &str)] = &[
    (&[("codelet", "cuda")], "a codelet names its kernels in CUDA"),
    (
        &[("codelet", "variants"), ("observer", "submission")],
        "public paths: these rooms re-export what programs look for there, and use none of it",
    ),
];

/// The most files that a cycle may have.
pub const MOST_IN_A_CIRCLE: usize = 6;
