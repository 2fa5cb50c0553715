//! The chain of an array's accesses.

#[allow(dead_code, reason = "the models use a part of it")]
#[path = "../../src/graph/chain.rs"]
mod protocol;

use LinkKind::{Commuting, Exclusive, Release, Shared};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use protocol::{Chain, Events, Link, LinkKind};

use crate::explore;

/// An array with its chain, and links for tasks on it.
struct Model<const LINKS: usize> {
    chain: Chain,
    links: [Link; LINKS],
    kinds: [LinkKind; LINKS],
    ready: [AtomicUsize; LINKS],
    retired: [AtomicUsize; LINKS],
    /// The data of the tasks: loom reports a race.
    data: UnsafeCell<usize>,
}

// SAFETY: `data` is guarded by the order of tasks, which the models verify; loom checks it.
#[allow(unsafe_code, reason = "a model of an array")]
unsafe impl<const LINKS: usize> Sync for Model<LINKS> {}
// SAFETY: as for `Sync`.
#[allow(unsafe_code, reason = "a model of an array")]
unsafe impl<const LINKS: usize> Send for Model<LINKS> {}

struct Counts<'a, const LINKS: usize>(&'a Model<LINKS>);

impl<const LINKS: usize> Counts<'_, LINKS> {
    fn index(&self, link: *const Link) -> usize {
        self.0.links.iter().position(|own| std::ptr::eq(own, link)).expect("a link of the model")
    }
}

impl<const LINKS: usize> Events for Counts<'_, LINKS> {
    fn ready(&mut self, link: *const Link) {
        assert_eq!(self.0.ready[self.index(link)].fetch_add(1, Ordering::AcqRel), 0, "ready twice");
    }

    fn retired(&mut self, link: *const Link) {
        let index = self.index(link);
        assert_eq!(self.0.ready[index].load(Ordering::Relaxed), 1, "retired before it was ready");
        assert_eq!(self.0.retired[index].fetch_add(1, Ordering::AcqRel), 0, "retired twice");
    }
}

impl<const LINKS: usize> Model<LINKS> {
    fn new(kinds: [LinkKind; LINKS]) -> Arc<Self> {
        let links = std::array::from_fn(|i| {
            let link = Link::new();
            link.reset(kinds[i]);
            link
        });
        Arc::new(Self {
            chain: Chain::new(),
            links,
            kinds,
            ready: std::array::from_fn(|_| AtomicUsize::new(0)),
            retired: std::array::from_fn(|_| AtomicUsize::new(0)),
            data: UnsafeCell::new(0),
        })
    }

    #[allow(unsafe_code, reason = "the chain's contract")]
    fn append(&self, i: usize) {
        // SAFETY: each link is reset once and appended once, and lives as long as the model.
        unsafe { self.chain.append(&self.links[i], &mut Counts(self)) };
    }

    /// Runs task `i` once it is ready.
    #[allow(unsafe_code, reason = "the chain's contract")]
    fn run(&self, i: usize) {
        while self.ready[i].load(Ordering::Acquire) == 0 {
            thread::yield_now();
        }
        match self.kinds[i] {
            // SAFETY: the task is ready; loom checks that no other thread writes meanwhile.
            LinkKind::Shared => self.data.with(|data| unsafe { std::ptr::read(data) }),
            // The chain does not decide which of the commuting tasks may access it.
            LinkKind::Commuting => 0,
            // SAFETY: the task is ready; loom checks that no other thread accesses it.
            _ => self.data.with_mut(|data| unsafe { std::ptr::replace(data, i) }),
        };
        // SAFETY: the link was appended, is ready, and is finished once.
        unsafe { self.chain.finish(&self.links[i], &mut Counts(self)) };
    }

    /// After all tasks, each link is retired, and the chain is empty.
    fn check(&self) {
        for retired in &self.retired {
            assert_eq!(retired.load(Ordering::Acquire), 1);
        }
        assert!(self.chain.is_quiet());
    }
}

/// Tasks are submitted in order by one thread, while another runs them in the order of `order`.
fn submit_and_run<const LINKS: usize>(kinds: [LinkKind; LINKS], order: [usize; LINKS]) {
    explore(6, move || {
        let model = Model::new(kinds);
        let worker = Arc::clone(&model);
        let worker = thread::spawn(move || order.iter().for_each(|&i| worker.run(i)));
        (0..LINKS).for_each(|i| model.append(i));
        worker.join().unwrap();
        model.check();
    });
}

/// While the first links are appended, one thread does `other`, and this one does `own`.
fn side_by_side<const LINKS: usize>(
    preemptions: usize,
    kinds: [LinkKind; LINKS],
    appended: usize,
    other: fn(&Model<LINKS>),
    own: fn(&Model<LINKS>),
) {
    explore(preemptions, move || {
        let model = Model::new(kinds);
        (0..appended).for_each(|i| model.append(i));
        let of_other = Arc::clone(&model);
        let thread = thread::spawn(move || other(&of_other));
        own(&model);
        thread.join().unwrap();
        model.check();
    });
}

#[test]
fn a_writer_follows_a_writer_being_linked() {
    submit_and_run([Exclusive, Exclusive], [0, 1]);
}

#[test]
fn readers_end_in_another_order() {
    submit_and_run([Shared, Shared], [1, 0]);
}

#[test]
fn those_that_commute_end_in_another_order() {
    submit_and_run([Commuting, Commuting], [1, 0]);
}

#[test]
fn those_that_commute_wait_for_readers() {
    submit_and_run([Shared, Commuting], [0, 1]);
}

#[test]
fn readers_wait_for_those_that_commute() {
    submit_and_run([Commuting, Shared], [0, 1]);
}

#[test]
fn a_writer_waits_for_readers_being_linked() {
    submit_and_run([Exclusive, Shared, Exclusive], [0, 1, 2]);
}

#[test]
fn two_workers_run_readers_before_a_writer() {
    loom::model(|| {
        let model = Model::new([Shared, Shared, Exclusive]);
        (0..3).for_each(|i| model.append(i));
        let worker = Arc::clone(&model);
        let worker = thread::spawn(move || worker.run(1));
        model.run(0);
        model.run(2);
        worker.join().unwrap();
        model.check();
    });
}

#[test]
fn two_threads_link_readers_at_once() {
    let other = |model: &Model<3>| {
        model.append(1);
        model.run(1);
    };
    let own = |model: &Model<3>| {
        model.run(0);
        model.append(2);
        model.run(2);
    };
    side_by_side(6, [Exclusive, Shared, Shared], 1, other, own);
}

#[test]
fn a_reader_ends_while_the_next_one_is_told_to_begin() {
    let own = |model: &Model<4>| [0, 2, 3].into_iter().for_each(|i| model.run(i));
    side_by_side(3, [Exclusive, Shared, Shared, Exclusive], 4, |model| model.run(1), own);
}

#[test]
fn readers_are_linked_behind_the_first_one_before_it_knows_that_it_is() {
    let other = |model: &Model<3>| {
        model.append(1);
        model.append(2);
        model.run(1);
        model.run(2);
    };
    let own = |model: &Model<3>| {
        model.append(0);
        model.run(0);
    };
    side_by_side(3, [Shared, Shared, Shared], 0, other, own);
}

#[test]
fn the_release_comes_last() {
    loom::model(|| {
        let model = Model::new([Exclusive, Shared, Release]);
        model.append(0);
        let worker = Arc::clone(&model);
        let worker = thread::spawn(move || {
            worker.run(0);
            worker.run(1);
        });
        model.append(1);
        model.append(2);
        worker.join().unwrap();
        assert_eq!(model.ready[2].load(Ordering::Acquire), 1);
        assert_eq!(model.retired[0].load(Ordering::Acquire) + model.retired[1].load(Ordering::Acquire), 2);
    });
}
