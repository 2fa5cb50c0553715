//! The content of an array: readers that find it not ready, and the failure that poisons it.

#[allow(dead_code, reason = "the models use a part of it")]
#[path = "../../src/graph/content.rs"]
mod machine;

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;
use machine::{AtomicContent, Content};

use crate::explore;

/// An array as `ArrayState` keeps it.
struct Array {
    content: AtomicContent,
    elements: UnsafeCell<usize>,
    failure: UnsafeCell<Option<&'static str>>,
}

// SAFETY: the content guards them, which the models verify.
#[allow(unsafe_code, reason = "a model of an array")]
unsafe impl Sync for Array {}
// SAFETY: as for `Sync`.
#[allow(unsafe_code, reason = "a model of an array")]
unsafe impl Send for Array {}

#[allow(unsafe_code, reason = "loom's cells report a race")]
impl Array {
    fn new(content: Content) -> Arc<Self> {
        let failure = UnsafeCell::new((content == Content::Poisoned).then_some("first"));
        Arc::new(Self { content: AtomicContent::new(content), elements: UnsafeCell::new(7), failure })
    }

    /// Like a reader that is ready.
    fn read(&self) -> Result<usize, &'static str> {
        match self.content.claim(true) {
            Content::Ready => {}
            Content::Poisoned => {
                // SAFETY: loom checks that no other thread writes meanwhile; mutable, as in `resolve`.
                let failure = self.failure.with_mut(|failure| unsafe { *failure });
                self.content.set(Content::Poisoned);
                return Err(failure.expect("a poisoned array knows the failure"));
            }
            _ => {
                // SAFETY: loom checks that no other thread accesses them.
                self.elements.with_mut(|elements| unsafe { *elements = 0 });
                self.content.set(Content::Ready);
            }
        }
        // SAFETY: loom checks that no other thread writes meanwhile.
        Ok(self.elements.with(|elements| unsafe { *elements }))
    }

    /// Like a task with an exclusive access that fails.
    fn poison(&self, failure: &'static str) {
        // SAFETY: loom checks that no other thread accesses it.
        self.failure.with_mut(|known| unsafe { *known = Some(failure) });
        self.content.set(Content::Poisoned);
    }

    /// Like a `W` task that runs.
    fn overwrite(&self, value: usize) {
        if self.content.claim(false) == Content::Poisoned {
            // SAFETY: loom checks that no other thread accesses it.
            self.failure.with_mut(|known| unsafe { *known = None });
        }
        self.content.set(Content::Ready);
        // SAFETY: as above.
        self.elements.with_mut(|elements| unsafe { *elements = value });
    }
}

/// The values that two threads read of an array at the same time.
fn read_by_two(array: &Arc<Array>) -> [Result<usize, &'static str>; 2] {
    let other = Arc::clone(array);
    let other = thread::spawn(move || other.read());
    [array.read(), other.join().unwrap()]
}

#[test]
fn two_readers_make_the_zeros_once() {
    for content in [Content::Zero, Content::Unset] {
        explore(3, move || {
            let array = Array::new(content);
            assert_eq!(read_by_two(&array), [Ok(0); 2]);
            assert_eq!(array.content.get(), Content::Ready);
        });
    }
}

#[test]
fn two_readers_of_a_ready_array_write_nothing() {
    explore(3, || assert_eq!(read_by_two(&Array::new(Content::Ready)), [Ok(7); 2]));
}

#[test]
fn two_readers_see_the_failure() {
    explore(3, || {
        let array = Array::new(Content::Poisoned);
        assert_eq!(read_by_two(&array), [Err("first"); 2]);
        assert_eq!(array.content.get(), Content::Poisoned);
    });
}

#[test]
fn a_failure_reaches_who_comes_later_and_a_write_heals() {
    explore(3, || {
        let array = Array::new(Content::Ready);
        let task = Arc::clone(&array);
        thread::spawn(move || task.poison("second")).join().unwrap();
        assert_eq!(read_by_two(&array), [Err("second"); 2]);
        array.overwrite(3);
        assert_eq!(read_by_two(&array), [Ok(3); 2]);
    });
}
