//! [`Progress`]: how far long work has come.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A line on the standard error that says how far it is. It is shown on a terminal alone, and goes when this is dropped.
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

    /// Says what the step is that begins now.
    pub(crate) fn begin(&self, step: impl Into<String>) {
        self.bar.set_message(step.into());
        self.bar.tick();
    }

    /// A step is done.
    pub(crate) fn done(&self) {
        self.bar.inc(1);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
