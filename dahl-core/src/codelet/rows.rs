//! [`Rows`]: how the arrays of a kernel can be cut, so that calls on the parts write the bits of one call.

use super::work_inputs::WorkInputs;

/// The declaration that a kernel computes rows apart from each other.
///
/// A row is what has one index along each of the leading axes, of which a function of the shapes and the arguments says the
/// number. All outputs and inputs have the same extents there, except inputs that are read whole for each row. The
/// codelet's first kernel promises, for contiguous arrays: a call on some of the rows writes the same bits there as a call on all of them, if it has at least so
/// many rows.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    axes: fn(&mut WorkInputs<'_>) -> f64,
    whole: &'static [usize],
    least: usize,
}

impl Rows {
    /// Rows along the first `axes` axes, without the inputs of the indices `whole`, in calls of at least `least` rows.
    pub const fn new(axes: fn(&mut WorkInputs<'_>) -> f64, whole: &'static [usize], least: usize) -> Self {
        assert!(least > 0, "a call has rows");
        Self { axes, whole, least }
    }

    /// The number of leading axes.
    pub(crate) fn axes(&self, inputs: &mut WorkInputs<'_>) -> usize {
        (self.axes)(inputs) as usize
    }

    /// Whether each row reads the whole parameter of this index.
    pub(crate) fn is_whole(&self, parameter: usize) -> bool {
        self.whole.contains(&parameter)
    }

    /// The fewest rows of a call.
    pub(crate) fn least(&self) -> usize {
        self.least
    }
}
