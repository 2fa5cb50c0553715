//! The traces of all ranks are joined to one.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

use dahl_core::__private::{Kernel, Parameter, Views};
use dahl_core::{AccessMode, Codelet, ElementType, Result, Runtime, Task};
use dahl_trace::{JoinError, Message, Trace};

use super::kernels::{V, mix, scale};
use crate::launch::on_ranks;

const RANKS: usize = 3;
const STEPS: usize = 12;

/// `out = [process, run]`: numbers that name this run, on all ranks.
static NAME_RUN: Codelet = Codelet::new("name_run", module_path!(), 1)
    .parameters(&[Parameter::new("out", AccessMode::W, ElementType::of::<f32>())])
    .kernels(&[Some(Kernel::new("rust", |views: &mut Views<'_>| {
        static RUNS: AtomicU32 = AtomicU32::new(0);
        let numbers = [process::id(), RUNS.fetch_add(1, Ordering::Relaxed)];
        views.slice_mut::<f32>().iter_mut().zip(numbers).for_each(|(out, number)| *out = number as f32);
    }))]);

/// A folder for the files of one run, which all ranks know; none if there are not so many ranks.
fn folder() -> Option<PathBuf> {
    let numbers = on_ranks(RANKS, 0, Runtime::builder, |rt| {
        let mut name: V = rt.zeros([2])?;
        let mut task = Task::new(&NAME_RUN);
        task.write(&mut name);
        task.on_rank(0).submit()?;
        name.to_vec()
    })?;
    let numbers = numbers.expect("no rank fails");
    Some(std::env::temp_dir().join(format!("dahl-traces-{}-{}", numbers[0][0], numbers[0][1])))
}

/// Values go round the ranks, and two ranks work side by side.
fn program(rt: &Runtime) -> Result<()> {
    let (mut x, mut out): (V, V) = (rt.zeros([1000])?, rt.zeros([1000])?);
    let y: V = rt.from_vec([1000], vec![1.0; 1000])?;
    for step in 0..STEPS {
        scale(&mut x, 1.0, Some(step % RANKS))?;
        mix(&x, &y, &mut out, Some((step + 1) % RANKS))?;
        if step % 4 == 0 {
            out.read()?;
        }
    }
    out.read()?;
    Ok(())
}

fn traces(folder: &Path) -> Vec<Trace> {
    let files = fs::read_dir(folder).expect("the folder is there");
    let paths = files.map(|file| file.expect("a file").path());
    paths.map(|path| Trace::read(path).expect("a trace")).collect()
}

pub(crate) fn a_message_leads_from_rank_to_rank() {
    let Some(folder) = folder() else { return };
    fs::create_dir_all(&folder).expect("a folder can be made");
    let builder = || Runtime::builder().cpu_workers(1).trace(folder.join("run.json"));
    let ran = on_ranks(RANKS, 5, builder, program);
    ran.expect("there are so many ranks").expect("no rank fails");
    let traces = traces(&folder);
    // All ranks have read them.
    on_ranks(RANKS, 0, Runtime::builder, |_| Ok(()));
    // The first of several processes has.
    let _ = fs::remove_dir_all(&folder);

    let joined = Trace::join(traces.clone()).expect("they are of one run");
    assert_eq!((joined.about().rank, joined.about().ranks), (None, Some(RANKS as u32)));
    assert_eq!(joined.tasks().len(), traces.iter().map(|trace| trace.tasks().len()).sum::<usize>());
    requires_messages(&joined);
    let compared = traces.iter().filter(|trace| !trace.clock().is_empty()).count();
    assert_eq!(compared, if joined.about().is_virtual { 0 } else { RANKS - 1 }, "clocks");

    let mut chrome = Vec::new();
    joined.write_chrome(&mut chrome).expect("it is written to memory");
    let chrome = String::from_utf8(chrome).expect("it is text");
    let read = Trace::parse(&chrome).expect("it is a trace");
    requires_messages(&read);
    assert_eq!(read, joined);
    let arrows = chrome.matches(r#""name":"message","cat":"message""#).count();
    assert_eq!(arrows, 2 * joined.transfers().len(), "both ends of each arrow");

    let one = traces[0].clone();
    let missing = Trace::join([one.clone()]).expect_err("two are missing").to_string();
    assert!(missing.contains("of 3 are missing"), "{missing}");
    let rank = one.about().rank.expect("it is of one of several ranks");
    assert_eq!(Trace::join([one.clone(), one]), Err(JoinError::Twice { rank }));
    assert!(matches!(Trace::join([joined]), Err(JoinError::NoRank { .. })));
}

/// Each message is received after it is sent, by a task that depends on the one that sends it, and is a transfer between the
/// memories of both.
fn requires_messages(joined: &Trace) {
    let mut ends: HashMap<Message, Vec<usize>> = HashMap::new();
    for (index, task) in joined.tasks().iter().enumerate() {
        task.message.into_iter().for_each(|message| ends.entry(message).or_default().push(index));
    }
    assert!(ends.len() >= STEPS, "{} messages", ends.len());
    for (message, ends) in &ends {
        let node = |end: usize| &joined.workers()[joined.tasks()[end].worker].name;
        let is_sent = |end: &usize| node(*end).starts_with(&format!("rank {}:", message.from));
        let (sent, received): (Vec<usize>, Vec<usize>) = ends.iter().partition(|end| is_sent(end));
        let ([sent], [received]) = (&*sent, &*received) else {
            panic!("{message:?} has not one end on each rank: {ends:?}");
        };
        let (sent, received) = (&joined.tasks()[*sent], &joined.tasks()[*received]);
        assert!(
            sent.start_ns <= received.end_ns(),
            "{message:?}: {} to {}",
            sent.start_ns,
            received.end_ns()
        );
        assert!(received.after.contains(&sent.number), "{message:?}");
        assert!(sent.start_ns >= sent.submitted_ns, "{message:?}: it is not sent before it is submitted");
    }
    assert_eq!(joined.transfers().len(), ends.len());
    for transfer in joined.transfers() {
        let link = &joined.links()[transfer.link];
        let name = |number: u32| {
            let node = joined.nodes().iter().find(|node| node.number == number);
            node.expect("it is there").name.split(':').next().unwrap_or_default().to_owned()
        };
        assert_eq!(link.name, format!("{} to {}", name(link.from), name(link.to)));
        assert_eq!(transfer.bytes, 4000);
    }
}
