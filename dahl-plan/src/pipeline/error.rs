//! [`Error`]: why there is no plan of a pipeline.

/// Why there is no plan of a pipeline.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A line of a profile is neither a layer nor an edge.
    #[error(
        "line {line} of the profile is {text:?}: expected `ID -- NAME -- forward_compute_time=MS, \
         backward_compute_time=MS, activation_size=BYTES, parameter_size=BYTES` or `ID -- ID`"
    )]
    Line {
        /// The line, from 1.
        line: usize,
        /// What it says.
        text: String,
    },
    /// An edge names a layer that has no line.
    #[error("line {line} of the profile has an edge with {layer:?}: expected a layer that has a line")]
    Unknown {
        /// The line, from 1.
        line: usize,
        /// The layer.
        layer: String,
    },
    /// An edge leads to a layer that is not there.
    #[error("an edge has layer {layer}: expected one of the {layers} layers, which count from 0")]
    Edge {
        /// The layer.
        layer: usize,
        /// How many layers there are.
        layers: usize,
    },
    /// There is no layer.
    #[error("the profile has no layer: expected one at least, beside those that are inputs")]
    Empty,
    /// A time or size is negative or no number.
    #[error("layer {layer} ({name}) has a time or size of {value}: expected a number from 0")]
    Value {
        /// The layer.
        layer: usize,
        /// Its name.
        name: String,
        /// The value.
        value: f64,
    },
    /// Layers read each other's outputs.
    #[error("layer {layer} ({name}) waits for itself: expected layers without cycles")]
    Cycle {
        /// A layer of the cycle, or one that waits for it.
        layer: usize,
        /// Its name.
        name: String,
    },
    /// The machines of a level are none, or its bandwidth is not above 0.
    #[error("level {level} has {machines} machines and {bandwidth} bytes/s: expected both above 0")]
    Level {
        /// The level, from 1, the innermost.
        level: usize,
        /// Its machines.
        machines: usize,
        /// Its bandwidth.
        bandwidth: f64,
    },
    /// There are more cuts than the algorithm can look at.
    #[error(
        "the graph can be cut at more than {most} places: expected fewer branches side by side; \
         join the layers of a branch into one"
    )]
    Cuts {
        /// How many there may be.
        most: usize,
    },
    /// No plan keeps to the memory.
    #[error("no plan needs at most {memory} bytes of each machine: expected more memory or more machines")]
    Memory {
        /// The bytes of a machine.
        memory: f64,
    },
}
