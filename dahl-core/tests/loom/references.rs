//! Recycling by reference counts: of an arena's regions, and of partitions.

#[allow(dead_code, reason = "the models use a part of it")]
#[path = "../../src/memory/references.rs"]
mod count;

use count::References;
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::Mutex;
use loom::thread;

use crate::explore;

/// A region of an arena: places that are written while it is in use, each by one user.
struct Region {
    references: References,
    places: [UnsafeCell<usize>; 2],
}

/// An arena with one region.
struct Arena {
    region: Region,
    /// The number of times that the region was returned.
    free: Mutex<usize>,
}

// SAFETY: the places are written by one user each, and by whoever releases the region last, which the models verify.
#[allow(unsafe_code, reason = "a model of a region")]
unsafe impl Sync for Arena {}
// SAFETY: as for `Sync`.
#[allow(unsafe_code, reason = "a model of a region")]
unsafe impl Send for Arena {}

impl Arena {
    fn new() -> Arc<Self> {
        let places = [UnsafeCell::new(0), UnsafeCell::new(0)];
        Arc::new(Self { region: Region { references: References::new(1), places }, free: Mutex::new(0) })
    }

    /// Writes a place, as a task that uses the region.
    #[allow(unsafe_code, reason = "loom's cell reports a race")]
    fn write(&self, place: usize) {
        // SAFETY: loom checks that no other thread accesses it.
        self.region.places[place].with_mut(|place| unsafe { *place += 1 });
    }

    /// Overwrites everything, like the next user of the region.
    fn reuse(&self) {
        self.write(0);
        self.write(1);
    }

    fn let_go(&self) {
        if self.region.references.let_go() {
            self.reuse();
            *self.free.lock().unwrap() += 1;
        }
    }
}

#[test]
fn a_region_goes_back_once_after_its_last_user() {
    explore(3, || {
        let arena = Arena::new();
        let users = [0, 1].map(|place| {
            arena.region.references.add();
            let arena = Arc::clone(&arena);
            thread::spawn(move || {
                arena.write(place);
                arena.let_go();
            })
        });
        arena.let_go(); // the arena is reset
        users.into_iter().for_each(|user| user.join().unwrap());
        assert_eq!(*arena.free.lock().unwrap(), 1);
    });
}

#[test]
fn who_alone_has_a_region_may_begin_anew() {
    explore(3, || {
        let arena = Arena::new();
        let users = [0, 1].map(|place| {
            arena.region.references.add();
            let arena = Arc::clone(&arena);
            thread::spawn(move || {
                arena.write(place);
                arena.let_go();
            })
        });
        if arena.region.references.is_sole() {
            arena.reuse();
        }
        users.into_iter().for_each(|user| user.join().unwrap());
        assert!(arena.region.references.is_sole());
        arena.let_go();
        assert_eq!(*arena.free.lock().unwrap(), 1);
    });
}

#[test]
fn a_user_makes_another_one() {
    explore(3, || {
        let arena = Arena::new();
        arena.region.references.add();
        let user = Arc::clone(&arena);
        let user = thread::spawn(move || {
            user.region.references.add();
            let next = Arc::clone(&user);
            let next = thread::spawn(move || {
                next.write(1);
                next.let_go();
            });
            user.write(0);
            user.let_go();
            next.join().unwrap();
        });
        arena.let_go();
        user.join().unwrap();
        assert_eq!(*arena.free.lock().unwrap(), 1);
    });
}
