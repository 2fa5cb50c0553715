//! What must be submitted before an access: the joins of open partitions, and the folds of open reductions.

use crate::access::AccessMode;
use crate::graph::ArrayState;

impl ArrayState {
    /// Ends what an access of this mode must come after: partitions and reductions that are open. A contribution to
    /// a reduction does not close it.
    #[inline]
    pub(crate) fn flush_pending(&self, mode: AccessMode) {
        self.partitions().rejoin(self, mode);
        if !matches!(mode, AccessMode::REDUX(_)) {
            self.reductions().close(self, mode);
        }
    }
}
