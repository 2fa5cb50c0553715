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
    &["sync", "error", "clock", "shape"],
    &["memory", "topology"],
    &["codelet"],
    &["cuda", "check"],
    &["device"],
    &["array"],
    &["task"],
    &["simulation", "footprint"],
    &["perf", "observer", "explain", "choice"],
    &["statistics", "scheduler"],
    &["trace"],
    &["runtime"],
    &["worker"],
    &["stall", "partition"],
    &["config", "testing"],
];

/// Arrows that lead upward, or from a room to one beside it, and why they may.
pub const EXCEPTIONS: &[(&[(&str, &str)], &str)] = &[
    (
        &[
            ("array", "runtime"),
            ("memory", "runtime"),
            ("observer", "runtime"),
            ("simulation", "runtime"),
            ("statistics", "runtime"),
            ("task", "runtime"),
        ],
        "`Shared` holds what workers, arrays and the host share, and all of them reach it",
    ),
    (
        &[
            ("array", "task"),
            ("codelet", "task"),
            ("array", "partition"),
            ("task", "partition"),
            ("codelet", "array"),
            ("memory", "array"),
            ("device", "array"),
        ],
        "an array's state holds the chain of its tasks; a split and a join are tasks; records are recycled by the arena",
    ),
    (
        &[
            ("array", "worker"),
            ("memory", "worker"),
            ("runtime", "worker"),
            ("scheduler", "worker"),
            ("simulation", "worker"),
            ("task", "worker"),
        ],
        "whoever waits or makes a task ready wakes workers (`sleep`), and asks whether it is inside of a kernel",
    ),
    (
        &[
            ("array", "observer"),
            ("device", "observer"),
            ("task", "observer"),
            ("device", "trace"),
            ("memory", "trace"),
            ("device", "perf"),
            ("task", "perf"),
            ("device", "scheduler"),
            ("memory", "scheduler"),
        ],
        "what happens is reported where it happens, to the traces, models and the scheduler of the run",
    ),
    (
        &[("runtime", "config"), ("runtime", "stall"), ("task", "stall")],
        "the runtime keeps its settings and reports a stall where a thread waits",
    ),
    (
        &[("codelet", "cuda"), ("cuda", "device"), ("error", "memory")],
        "a codelet names its kernels in CUDA; transfers of a device are data of `device`; an error says who holds memory",
    ),
];

/// The most files that a circle may have.
pub const MOST_IN_A_CIRCLE: usize = 157;
