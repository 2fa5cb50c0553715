//! [`Parker`]: crossbeam's, built on this module's lock, for runs in which a checker decides which thread runs next.

use std::sync::Arc;
use std::time::Duration;

use crate::sync::{Condvar, Mutex};

/// Parks one thread.
#[derive(Debug)]
pub(crate) struct Parker(Unparker);

/// Unparks the thread.
#[derive(Clone, Debug)]
pub(crate) struct Unparker(Arc<Token>);

#[derive(Debug)]
struct Token {
    there: Mutex<bool>,
    changed: Condvar,
}

impl Parker {
    pub(crate) fn new() -> Self {
        Self(Unparker(Arc::new(Token { there: Mutex::new(false), changed: Condvar::new() })))
    }

    pub(crate) fn unparker(&self) -> &Unparker {
        &self.0
    }

    /// Waits for the token, and takes it.
    pub(crate) fn park(&self) {
        let Unparker(token) = &self.0;
        let mut there = token.there.lock().expect("no thread panics with this lock");
        while !*there {
            there = token.changed.wait(there).expect("no thread panics with this lock");
        }
        *there = false;
    }

    /// Waits for the token, and takes it; time is not part of a schedule, so the token may be missing.
    pub(crate) fn park_timeout(&self, _: Duration) {
        let Unparker(token) = self.unparker();
        *token.there.lock().expect("no thread panics with this lock") = false;
    }
}

impl Unparker {
    /// Sets the token.
    pub(crate) fn unpark(&self) {
        let Self(token) = self;
        *token.there.lock().expect("no thread panics with this lock") = true;
        token.changed.notify_one();
    }
}
