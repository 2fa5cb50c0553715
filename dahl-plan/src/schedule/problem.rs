//! [`Problem`]: tasks, what they read, and the machine.

/// Tasks on a machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Problem {
    /// The tasks.
    pub tasks: Vec<Task>,
    /// The arrays that tasks read.
    pub edges: Vec<Edge>,
    /// The machine.
    pub machine: Machine,
}

/// A task, which runs on one worker without interruption.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Task {
    /// Its name, for people.
    pub name: String,
    /// Its cost on each kind of worker. `None` if it cannot run there.
    pub costs: Vec<Option<Cost>>,
}

/// What a task costs on a worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// How long it runs.
    pub nanoseconds: u64,
    /// The energy of the worker while it runs.
    pub picojoules: u64,
}

/// An array: where it comes from, and which tasks read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// What it comes from.
    pub source: Source,
    /// The tasks that read it. None for a result.
    pub readers: Vec<usize>,
    /// Its size. With 0 the edge is only an order: nothing is transferred.
    pub bytes: u64,
}

/// What an array comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A task writes it, into the memory of its worker.
    Task(usize),
    /// It is in the memory of a node from the beginning.
    Node(usize),
}

/// Workers and memory nodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Machine {
    /// How many kinds of workers there are, such as processors and devices.
    pub kinds: usize,
    /// The memory nodes.
    pub nodes: Vec<Node>,
    /// The workers.
    pub workers: Vec<Worker>,
    /// The links between nodes. Nodes without one exchange arrays through others.
    pub links: Vec<Link>,
}

/// A memory node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// The most bytes that it holds at one time.
    pub bytes: Option<u64>,
}

/// A worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Worker {
    /// Its kind.
    pub kind: usize,
    /// Its memory node.
    pub node: usize,
    /// Its power while it runs no task.
    pub idle_milliwatts: u64,
}

/// A link in one direction. Transfers do not slow down each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// The node that it leaves.
    pub from: usize,
    /// The node that it reaches.
    pub to: usize,
    /// The time of a transfer of nothing.
    pub latency_nanoseconds: u64,
    /// The bytes that it carries in a second.
    pub bytes_per_second: f64,
    /// The energy of a byte.
    pub picojoules_per_byte: f64,
}
