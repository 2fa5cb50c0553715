//! What must be submitted before an access: the joins of open partitions, and the folds of open reductions.

use crate::access::AccessMode;
use crate::graph::ArrayState;

impl ArrayState {
    /// Ends what must precede an access of this mode: open partitions and reductions. A contribution to a reduction
    /// does not close it.
    #[inline]
    pub(crate) fn flush_pending(&self, mode: AccessMode) {
        self.partitions().rejoin(self, mode);
        if !matches!(mode, AccessMode::REDUX(_)) {
            self.reductions().close(self, mode);
        }
    }
}
