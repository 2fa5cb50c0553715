//! [`Case`]: a convolution that is measured, on a processor or on a device.

/// A convolution by steps of one.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    pub(crate) batch: usize,
    pub(crate) channels: [usize; 2],
    pub(crate) kernel: usize,
    pub(crate) padding: usize,
    pub(crate) image: usize,
}

impl Case {
    pub(crate) fn output(&self) -> usize {
        self.image + 2 * self.padding + 1 - self.kernel
    }

    pub(crate) fn flops(&self) -> f64 {
        let [in_channels, out_channels] = self.channels;
        2.0 * (self.batch * out_channels * self.output().pow(2) * in_channels * self.kernel.pow(2)) as f64
    }
}
