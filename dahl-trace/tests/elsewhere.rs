//! What is written for other programs is what they read.

use crate::made::{self, by_hand};
use dahl_trace::Trace;
use expect_test::expect;
use std::io::Write;
use std::process::{Command, Stdio};

fn paje(text: &str) -> String {
    let mut out = Vec::new();
    Trace::parse(text).unwrap().write_paje(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn dot(text: &str) -> String {
    let mut out = Vec::new();
    Trace::parse(text).unwrap().write_dot(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// The output of `program` for `input`; none, with a note, if there is no such program.
fn through(program: &str, args: &[&str], input: &str) -> Option<String> {
    let started = Command::new(program)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = started else {
        eprintln!("skipped: there is no {program}");
        return None;
    };
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{program} has no complaint");
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn paje_of_a_small_run() {
    let text = paje(&made::text(&by_hand::diamond()));
    let events = text.split_once("%EndEventDef\n1 ").unwrap().1;
    expect![[r#"
        MPIP 0 "MPI Program"
        1 P MPIP "Program"
        1 Mn P "Memory Node"
        1 T Mn "Thread"
        1 Mm Mn "Memory Manager"
        1 W T "Worker"
        1 Sc P "Scheduler"
        3 WS W "Worker State"
        3 IC W "Idle Cause"
        4 nsubmitted Sc "Number of Submitted Uncompleted Tasks" "0 0 0"
        4 nready Sc "Number of Ready Tasks" "0 0 0"
        4 mem Mm "Used Memory" "0 0 0"
        5 L P Mm Mm "Links between two Memory Managers"
        6 B WS "Overhead" ".5 .18 .0"
        6 Fi WS "FetchingInput" "1.0 .1 1.0"
        6 Sc WS "Scheduling" ".7 .36 .0"
        6 Sl WS "Sleeping" ".9 .1 .0"
        6 no IC "no" "1.0 1.0 1.0"
        6 submission IC "submission" "0.639 0.604 0.549"
        6 dependency IC "dependency" "0.435 0.455 0.502"
        6 scheduler IC "scheduler" "0.659 0.392 0.416"
        6 transfer IC "transfer" "0.561 0.525 0.702"
        6 end IC "end" "0.788 0.800 0.824"
        6 c0 WS "matmul" "0.000 0.447 0.698"
        6 c1 WS "sum" "0.902 0.624 0.000"
        6 c2 WS "fill" "0.000 0.620 0.451"
        7 0.000000 root MPIP 0 "root"
        7 0.000000 p P root "net"
        7 0.000000 sched Sc p "scheduler"
        7 0.000000 mn0 Mn p "memory 0"
        7 0.000000 mm0 Mm mn0 "MEMMANAGER0"
        7 0.000000 mn1 Mn p "memory 1"
        7 0.000000 mm1 Mm mn1 "MEMMANAGER1"
        7 0.000000 t0 T mn0 "T1"
        7 0.000000 w0 W t0 "cpu 0"
        7 0.000000 t1 T mn1 "T2"
        7 0.000000 w1 W t1 "device 0"
        10 0.000000 w0 WS Sl
        10 0.000000 w0 IC submission
        10 0.000000 w1 WS Sl
        10 0.000000 w1 IC submission
        13 0.001000 sched nsubmitted 1
        13 0.001000 sched nready 1
        13 0.001000 sched nready 0
        10 0.001000 w0 IC no
        20 0.001000 w0 WS c2 36 "f32[2x3] f32[3]" 2a80d6c1 "NA" 0 0
        13 0.001000 mm0 mem 4000
        13 0.002000 sched nsubmitted 2
        13 0.002500 sched nsubmitted 3
        10 0.002500 w1 WS Sl
        10 0.002500 w1 IC dependency
        13 0.003000 sched nsubmitted 4
        13 0.010000 sched nsubmitted 3
        13 0.010000 sched nready 1
        13 0.010000 sched nready 0
        10 0.010000 w0 IC no
        20 0.010000 w0 WS c0 36 "f32[2x3] f32[3]" 2a80d6c1 "NA" 1 1
        13 0.010000 sched nready 1
        10 0.010000 w1 WS Sc
        10 0.010000 w1 IC scheduler
        10 0.010250 w1 WS Fi
        10 0.010250 w1 IC transfer
        18 0.010250 L p 4000 mm0 0
        13 0.010250 mm1 mem 4000
        13 0.025000 sched nready 0
        10 0.025000 w1 IC no
        20 0.025000 w1 WS c0 36 "f32[2x3] f32[3]" 2a80d6c1 "NA" 2 2
        19 0.025000 L p 4000 mm1 0
        13 0.040000 sched nsubmitted 2
        10 0.040000 w0 WS Sl
        10 0.040000 w0 IC dependency
        13 0.060000 sched nsubmitted 1
        13 0.060000 sched nready 1
        10 0.060000 w0 WS Sc
        10 0.060000 w0 IC scheduler
        10 0.060000 w1 WS Sl
        10 0.060000 w1 IC end
        13 0.060000 mm1 mem 0
        13 0.060500 sched nready 0
        10 0.060500 w0 IC no
        20 0.060500 w0 WS c1 36 "f32[2x3] f32[3]" 2a80d6c1 "loss 'of' </script> the <epoch>" 3 3
        13 0.080000 sched nsubmitted 0
        8 0.080000 w0 W
        8 0.080000 t0 T
        8 0.080000 w1 W
        8 0.080000 t1 T
        8 0.080000 mm0 Mm
        8 0.080000 mn0 Mn
        8 0.080000 mm1 Mm
        8 0.080000 mn1 Mn
        8 0.080000 sched Sc
        8 0.080000 p P
        8 0.080000 root MPIP
    "#]]
    .assert_eq(events);
}

#[test]
fn pj_dump_reads_it() {
    let Some(dump) = through("pj_dump", &["-u"], &paje(&made::text(&by_hand::diamond()))) else { return };
    let mut lines: Vec<&str> = dump.lines().collect();
    lines.sort_unstable();
    expect![[r#"
        Container, 0, 0, 0, 0.08, 0.08, 0
        Container, 0, MPI Program, 0, 0.08, 0.08, root
        Container, T1, Worker, 0, 0.08, 0.08, cpu 0
        Container, T2, Worker, 0, 0.08, 0.08, device 0
        Container, memory 0, Memory Manager, 0, 0.08, 0.08, MEMMANAGER0
        Container, memory 0, Thread, 0, 0.08, 0.08, T1
        Container, memory 1, Memory Manager, 0, 0.08, 0.08, MEMMANAGER1
        Container, memory 1, Thread, 0, 0.08, 0.08, T2
        Container, net, Memory Node, 0, 0.08, 0.08, memory 0
        Container, net, Memory Node, 0, 0.08, 0.08, memory 1
        Container, net, Scheduler, 0, 0.08, 0.08, scheduler
        Container, root, Program, 0, 0.08, 0.08, net
        Link, net, Links between two Memory Managers, 0.010250, 0.025000, 0.014750, 4000, MEMMANAGER0, MEMMANAGER1, 0
        State, cpu 0, Idle Cause, 0.000000, 0.001000, 0.001000, 0.000000, submission
        State, cpu 0, Idle Cause, 0.001000, 0.010000, 0.009000, 0.000000, no
        State, cpu 0, Idle Cause, 0.010000, 0.040000, 0.030000, 0.000000, no
        State, cpu 0, Idle Cause, 0.040000, 0.060000, 0.020000, 0.000000, dependency
        State, cpu 0, Idle Cause, 0.060000, 0.060500, 0.000500, 0.000000, scheduler
        State, cpu 0, Idle Cause, 0.060500, 0.080000, 0.019500, 0.000000, no
        State, cpu 0, Worker State, 0.000000, 0.001000, 0.001000, 0.000000, Sleeping
        State, cpu 0, Worker State, 0.001000, 0.010000, 0.009000, 0.000000, fill, 36, f32[2x3] f32[3], 2a80d6c1, NA, 0, 0
        State, cpu 0, Worker State, 0.010000, 0.040000, 0.030000, 0.000000, matmul, 36, f32[2x3] f32[3], 2a80d6c1, NA, 1, 1
        State, cpu 0, Worker State, 0.040000, 0.060000, 0.020000, 0.000000, Sleeping
        State, cpu 0, Worker State, 0.060000, 0.060500, 0.000500, 0.000000, Scheduling
        State, cpu 0, Worker State, 0.060500, 0.080000, 0.019500, 0.000000, sum, 36, f32[2x3] f32[3], 2a80d6c1, loss 'of' </script> the <epoch>, 3, 3
        State, device 0, Idle Cause, 0.000000, 0.002500, 0.002500, 0.000000, submission
        State, device 0, Idle Cause, 0.002500, 0.010000, 0.007500, 0.000000, dependency
        State, device 0, Idle Cause, 0.010000, 0.010250, 0.000250, 0.000000, scheduler
        State, device 0, Idle Cause, 0.010250, 0.025000, 0.014750, 0.000000, transfer
        State, device 0, Idle Cause, 0.025000, 0.060000, 0.035000, 0.000000, no
        State, device 0, Idle Cause, 0.060000, 0.080000, 0.020000, 0.000000, end
        State, device 0, Worker State, 0.000000, 0.002500, 0.002500, 0.000000, Sleeping
        State, device 0, Worker State, 0.002500, 0.010000, 0.007500, 0.000000, Sleeping
        State, device 0, Worker State, 0.010000, 0.010250, 0.000250, 0.000000, Scheduling
        State, device 0, Worker State, 0.010250, 0.025000, 0.014750, 0.000000, FetchingInput
        State, device 0, Worker State, 0.025000, 0.060000, 0.035000, 0.000000, matmul, 36, f32[2x3] f32[3], 2a80d6c1, NA, 2, 2
        State, device 0, Worker State, 0.060000, 0.080000, 0.020000, 0.000000, Sleeping
        Variable, MEMMANAGER0, Used Memory, 0.001000, 0.080000, 0.079000, 4000.000000
        Variable, MEMMANAGER1, Used Memory, 0.010250, 0.060000, 0.049750, 4000.000000
        Variable, MEMMANAGER1, Used Memory, 0.060000, 0.080000, 0.020000, 0.000000
        Variable, scheduler, Number of Ready Tasks, 0.001000, 0.010000, 0.009000, 0.000000
        Variable, scheduler, Number of Ready Tasks, 0.010000, 0.025000, 0.015000, 1.000000
        Variable, scheduler, Number of Ready Tasks, 0.025000, 0.060000, 0.035000, 0.000000
        Variable, scheduler, Number of Ready Tasks, 0.060000, 0.060500, 0.000500, 1.000000
        Variable, scheduler, Number of Ready Tasks, 0.060500, 0.080000, 0.019500, 0.000000
        Variable, scheduler, Number of Submitted Uncompleted Tasks, 0.001000, 0.002000, 0.001000, 1.000000
        Variable, scheduler, Number of Submitted Uncompleted Tasks, 0.002000, 0.002500, 0.000500, 2.000000
        Variable, scheduler, Number of Submitted Uncompleted Tasks, 0.002500, 0.003000, 0.000500, 3.000000
        Variable, scheduler, Number of Submitted Uncompleted Tasks, 0.003000, 0.010000, 0.007000, 4.000000
        Variable, scheduler, Number of Submitted Uncompleted Tasks, 0.010000, 0.040000, 0.030000, 3.000000
        Variable, scheduler, Number of Submitted Uncompleted Tasks, 0.040000, 0.060000, 0.020000, 2.000000
        Variable, scheduler, Number of Submitted Uncompleted Tasks, 0.060000, 0.080000, 0.020000, 1.000000
        Variable, scheduler, Number of Submitted Uncompleted Tasks, 0.080000, 0.080000, 0.000000, 0.000000"#]].assert_eq(&lines.join("\n"));
}

/// The converted file has each task and transfer of a larger run, with its worker and its times.
#[test]
fn pj_dump_finds_every_task() {
    let text = made::cholesky(8, 3);
    let trace = Trace::parse(&text).unwrap();
    let Some(dump) = through("pj_dump", &["-u"], &paje(&text)) else { return };
    let fields = |line: &str| line.split(", ").map(str::to_owned).collect::<Vec<_>>();
    let rows: Vec<Vec<String>> = dump.lines().map(fields).collect();
    for task in trace.tasks() {
        let number = task.number.to_string();
        let found: Vec<_> =
            rows.iter().filter(|row| row[0] == "State" && row.len() > 8 && row[12] == number).collect();
        let ms = |ns: u64| ns as f64 / 1e6;
        let [row] = &found[..] else { panic!("task {number}: {found:?}") };
        assert_eq!((&*row[1], &*row[7]), (&*trace.workers()[task.worker].name, &*task.codelet));
        assert_eq!((row[3].parse(), row[4].parse()), (Ok(ms(task.start_ns)), Ok(ms(task.end_ns()))));
    }
    let links = rows.iter().filter(|row| row[0] == "Link").count();
    assert_eq!(links, trace.transfers().len());
}

#[test]
fn dot_of_a_small_run() {
    expect![[r##"
        digraph "net" {
          rankdir=TB
          node [shape=box style="filled,rounded" fontname="sans-serif" color="#40404080"]
          edge [color="#808080"]
          subgraph "net::matmul" {
            node [fillcolor="#0072b260"]
            t1 [label="matmul #1" tooltip="30.0 us on cpu 0, submitted at src/net.rs:7"]
            t2 [label="matmul #2" tooltip="35.0 us on device 0, submitted at src/net.rs:7" color=black penwidth=3]
          }
          subgraph "net::sum" {
            node [fillcolor="#e69f0060"]
            t3 [label="sum #3\nloss \"of\" </script> the <epoch>" tooltip="19.5 us on cpu 0, submitted at src/net.rs:7" color=black penwidth=3]
          }
          subgraph "net::fill" {
            node [fillcolor="#009e7360"]
            t0 [label="fill #0" tooltip="9.00 us on cpu 0, submitted at src/net.rs:7" color=black penwidth=3]
          }
          t0 -> t1
          t0 -> t2 [color=black penwidth=3]
          t1 -> t3
          t2 -> t3 [color=black penwidth=3]
        }
    "##]].assert_eq(&dot(&made::text(&by_hand::diamond())));
}

#[test]
fn graphviz_reads_it() {
    let text = dot(&made::text(&by_hand::diamond()));
    let Some(plain) = through("dot", &["-Tplain"], &text) else { return };
    let (nodes, edges) = ("node ", "edge ");
    assert_eq!(plain.lines().filter(|line| line.starts_with(nodes)).count(), 4);
    assert_eq!(plain.lines().filter(|line| line.starts_with(edges)).count(), 4);
    assert!(plain.contains(r#"loss \"of\" </script> the <epoch>"#), "{plain}");
}

/// Names are the user's: the graph is the same for any name.
#[test]
fn names_are_escaped() {
    for name in [r#"a "b" c"#, r"\N \l", "a\nb", "}", "<b>bold</b>", "größer %", "\0 \x1b[1m \x07 \x7f"] {
        let mut lines = by_hand::diamond();
        made::rename(&mut lines, name);
        let text = made::text(&lines);
        if let Some(plain) = through("dot", &["-Tplain"], &dot(&text)) {
            assert_eq!(plain.lines().filter(|line| line.starts_with("node ")).count(), 4, "{name}");
        }
        if let Some(svg) = through("dot", &["-Tsvg"], &dot(&text)) {
            assert!(!svg.contains(|letter: char| letter.is_control() && letter != '\n'), "{name:?}");
        }
        if let Some(dump) = through("pj_dump", &["-u"], &paje(&text)) {
            assert_eq!(
                dump.lines()
                    .filter(|line| line.starts_with("State, ") && line.contains("Worker State"))
                    .count(),
                12
            );
        }
    }
}

#[test]
fn a_run_of_nothing_is_written_too() {
    let text = made::text(&by_hand::nothing());
    if let Some(plain) = through("dot", &["-Tplain"], &dot(&text)) {
        assert!(plain.starts_with("graph "));
    }
    if let Some(dump) = through("pj_dump", &["-u"], &paje(&text)) {
        assert_eq!(dump.lines().filter(|line| line.starts_with("State")).count(), 0);
    }
}
