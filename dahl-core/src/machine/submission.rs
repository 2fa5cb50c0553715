//! [`Submission`]: what the host does before it submits a task.

use serde::{Deserialize, Serialize};

use super::speed::{A_TIME, is_time};

/// The unit of sizes: bytes.
const MB: f64 = (1 << 20) as f64;

/// What the thread that submits does by itself before it submits a task of this codelet: it computes, reads samples, builds the
/// task. A call of a program is one submission, of the codelet with the program's name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Submission {
    /// The codelet's name.
    pub codelet: String,
    /// The name of the codelet that the thread submitted before; absent for those that have no entry of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Microseconds, whatever the size.
    pub us: f64,
    /// Microseconds for each 2^20 bytes that the task moves; of a program, that its arguments and results have.
    pub us_per_mb: f64,
}

impl Submission {
    /// The time before a task that moves so many bytes.
    pub fn us_of(&self, bytes: f64) -> f64 {
        self.us + self.us_per_mb * bytes / MB
    }

    /// Of these, the one that says what is done before a task of `codelet`, after one of `after`.
    pub fn find<'s>(all: &'s [Self], codelet: &str, after: Option<&str>) -> Option<&'s Self> {
        let mut of_any = None;
        for own in all.iter().filter(|own| own.codelet == codelet) {
            match own.after.as_deref() {
                None => of_any = Some(own),
                before if before == after => return Some(own),
                Some(_) => {}
            }
        }
        of_any
    }

    /// The first figure that is impossible.
    pub(super) fn wrong(&self) -> Option<String> {
        let Self { codelet, us, us_per_mb, .. } = self;
        let figures = [("us", us), ("us_per_mb", us_per_mb)];
        let (what, us) = figures.into_iter().find(|(_, us)| !is_time(**us))?;
        Some(format!("submission of `{codelet}`: {what} = {us}: {A_TIME}"))
    }
}
