//! [`Progress`]: the progress of long work.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A progress line on the standard error. It is shown only on a terminal, and is erased when this is dropped.
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    pub(crate) fn new(steps: usize, what: &'static str, quiet: bool) -> Self {
        let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let style = ProgressStyle::with_template("{prefix} {bar:30} {pos}/{len} {msg}");
        let style = style.expect("the template is one");
        let bar = ProgressBar::with_draw_target(Some(steps as u64), target).with_style(style);
        Self { bar: bar.with_prefix(what) }
    }

    /// Names the step that begins now.
    pub(crate) fn begin(&self, step: impl Into<String>) {
        self.bar.set_message(step.into());
        self.bar.tick();
    }

    /// Counts a step as done.
    pub(crate) fn done(&self) {
        self.bar.inc(1);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
