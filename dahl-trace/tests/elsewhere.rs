//! What is written for other programs is what they read.

mod made;

use dahl_trace::Trace;
use expect_test::expect;
use made::by_hand;
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

/// What `program` prints about `input`; nothing, and a word about it, if there is no such program.
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
    expect![[""]].assert_eq(events);
}

#[test]
fn pj_dump_reads_it() {
    let Some(dump) = through("pj_dump", &[], &paje(&made::text(&by_hand::diamond()))) else { return };
    expect![[""]].assert_eq(&dump);
}

/// Each task and transfer of a larger run comes out again, with its worker and its times.
#[test]
fn pj_dump_finds_every_task() {
    let text = made::cholesky(8, 3);
    let trace = Trace::parse(&text).unwrap();
    let Some(dump) = through("pj_dump", &[], &paje(&text)) else { return };
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
    expect![[""]].assert_eq(&dot(&made::text(&by_hand::diamond())));
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

/// Names are the user's: whatever is in them, the graph is the same.
#[test]
fn names_are_escaped() {
    for name in [r#"a "b" c"#, r"\N \l", "a\nb", "}", "<b>bold</b>", "größer %"] {
        let mut lines = by_hand::diamond();
        made::rename(&mut lines, name);
        let text = made::text(&lines);
        if let Some(plain) = through("dot", &["-Tplain"], &dot(&text)) {
            assert_eq!(plain.lines().filter(|line| line.starts_with("node ")).count(), 4, "{name}");
        }
        if let Some(dump) = through("pj_dump", &[], &paje(&text)) {
            assert_eq!(
                dump.lines()
                    .filter(|line| line.starts_with("State, ") && line.contains("Worker State"))
                    .count(),
                9
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
    if let Some(dump) = through("pj_dump", &[], &paje(&text)) {
        assert_eq!(dump.lines().filter(|line| line.starts_with("State")).count(), 0);
    }
}
