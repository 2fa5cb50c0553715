//! Reading a file, and the errors of invalid ones.

use crate::made::{self, by_hand};
use dahl_trace::Trace;
use expect_test::expect;

fn written(trace: &Trace) -> String {
    let mut out = Vec::new();
    trace.write_chrome(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// The lines of a text as values, in any order.
fn events(text: &str) -> Vec<String> {
    let values: Vec<serde_json::Value> = serde_json::from_str(text).unwrap();
    let arrow = |value: &&serde_json::Value| value["cat"] != "dependency";
    let mut events: Vec<String> = values.iter().filter(arrow).map(ToString::to_string).collect();
    events.sort();
    events
}

#[test]
fn a_run_is_written_as_it_was_read() {
    for text in [
        made::text(&by_hand::diamond()),
        made::text(&by_hand::powered()),
        made::text(&by_hand::nothing()),
        made::cholesky(6, 3),
    ] {
        let trace = Trace::parse(&text).unwrap();
        let again = written(&trace);
        assert!(events(&text) == events(&again), "{text}\nbecame\n{again}");
        assert_eq!(Trace::parse(&again).unwrap(), trace);
        assert_eq!(written(&Trace::parse(&again).unwrap()), again);
    }
}

#[test]
fn a_power_that_is_no_power_is_told() {
    let text = made::text(&by_hand::powered());
    for (watts, told) in [("-1.0", "`watts` is -1, expected a number from 0 on"), ("null", "expected watts")]
    {
        let wrong = text.replace("\"watts\":30.0", &format!("\"watts\":{watts}"));
        let error = Trace::parse(&wrong).expect_err(watts).to_string();
        assert!(error.contains(told), "{error}");
    }
}

#[test]
fn arrows_lead_from_each_task_to_those_after_it() {
    let trace = Trace::parse(&made::text(&by_hand::diamond())).unwrap();
    let text = written(&trace);
    let arrows: Vec<&str> = text.lines().filter(|line| line.contains("dependency\",\"cat\"")).collect();
    expect![[r#"
        {"ph":"s","id":1,"name":"dependency","cat":"dependency","ts":9.999,"pid":1,"tid":1},
        {"ph":"f","id":1,"name":"dependency","cat":"dependency","ts":10.0,"pid":1,"tid":1,"bp":"e"},
        {"ph":"s","id":2,"name":"dependency","cat":"dependency","ts":9.999,"pid":1,"tid":1},
        {"ph":"f","id":2,"name":"dependency","cat":"dependency","ts":25.0,"pid":2,"tid":2,"bp":"e"},
        {"ph":"s","id":3,"name":"dependency","cat":"dependency","ts":39.999,"pid":1,"tid":1},
        {"ph":"f","id":3,"name":"dependency","cat":"dependency","ts":60.5,"pid":1,"tid":1,"bp":"e"},
        {"ph":"s","id":4,"name":"dependency","cat":"dependency","ts":59.999,"pid":2,"tid":2},
        {"ph":"f","id":4,"name":"dependency","cat":"dependency","ts":60.5,"pid":1,"tid":1,"bp":"e"},"#]]
    .assert_eq(&arrows.join("\n"));
}

/// A file that ends anywhere after its first line opens, and reports that it is incomplete.
#[test]
fn a_file_that_breaks_off_anywhere_opens() {
    let text = made::text(&by_hand::diamond());
    let whole = Trace::parse(&text).unwrap();
    let first = text.match_indices('\n').nth(1).unwrap().0;
    let last = text.rfind("\n]").unwrap();
    for length in first..last {
        let trace = Trace::parse(&text[..length]).unwrap_or_else(|error| panic!("{length}: {error}"));
        let cut = trace.cut().expect("it is cut");
        let lines = text[..length].lines().count();
        assert_eq!(cut.line + usize::from(cut.in_the_middle), lines);
        assert!(trace.tasks().iter().zip(whole.tasks()).all(|(task, other)| task == other));
    }
    assert_eq!(Trace::parse(&text[..last]).unwrap(), whole, "a missing bracket is no harm");
}

/// A file may also end within a character.
#[test]
fn a_file_that_breaks_off_inside_a_character_opens() {
    let text = made::text(&by_hand::one()).replace("net.rs", "netz-für-öl.rs");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    let cut = text.find("ö").unwrap() + 1;
    std::fs::write(&path, &text.as_bytes()[..cut]).unwrap();
    let trace = Trace::read(&path).unwrap();
    assert!(trace.cut().unwrap().in_the_middle);
    assert!(trace.tasks().is_empty());
}

/// As after a power failure.
#[test]
fn a_file_whose_end_is_zeros_opens_as_cut_there() {
    let text = made::text(&by_hand::diamond());
    for end in 0..text.len() {
        let lost = |zeros| Trace::parse(&(text[..end].to_owned() + &"\0".repeat(zeros)));
        let cut = lost(0).map_err(|error| error.to_string());
        assert_eq!(lost(4096).map_err(|error| error.to_string()), cut, "{end}");
    }
}

#[test]
fn of_a_cut_file_a_whole_one_can_be_written() {
    let text = made::cholesky(6, 3);
    let cut = Trace::parse(&text[..text.len() / 2]).unwrap();
    let again = Trace::parse(&written(&cut)).unwrap();
    assert_eq!((again.tasks(), again.idle(), again.memory()), (cut.tasks(), cut.idle(), cut.memory()));
    assert!(again.cut().is_some(), "that the run did not come to its end is not forgotten");
}

#[test]
fn damage_is_an_error_with_its_place() {
    let text = made::text(&by_hand::diamond());
    let told = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        Trace::parse(&text.replacen(from, to, 1)).map(|_| ()).unwrap_err().to_string()
    };
    let errors = [
        told("[\n", "{\n"),
        told(r#""version":1"#, r#""version":7"#),
        told(r#""name":"dahl""#, r#""name":"other""#),
        told(r#""ph":"X""#, r#""ph":"Q""#),
        told(r#""cat":"task""#, r#""cat":"tusk""#),
        told(r#""tid":1,"cat":"task""#, r#""tid":9,"cat":"task""#),
        told(r#""task":1"#, r#""task":"one""#),
        told(r#""task":1"#, r#""task":0"#),
        told(r#""cause":"dependency""#, r#""cause":"weather""#),
        told(r#""ts":10.0"#, r#""ts":-10.0"#),
        told(r#""dur":30.0"#, r#""dur":"#),
        told(r#""after":[0]"#, r#""after":[3]"#),
        told(r#""predicted_us":"#, r#""predicted_us":-5.0,"x":"#),
        told(r#""measured_us":"#, r#""measured_us":-5.0,"x":"#),
        told(r#""pid":2,"args":{"bytes":4000}"#, r#""pid":0,"args":{"bytes":4000}"#),
        told("\n]", "\n]\n{}"),
        Trace::parse("").unwrap_err().to_string(),
        Trace::parse("[\n").unwrap_err().to_string(),
        Trace::parse("[\n{\"ph\":\"M\",\"na").unwrap_err().to_string(),
    ];
    expect![[r#"
        the text:1: expected `[`: a trace is an array of events, one a line
        the text: a trace of version 7; this program reads version 1: use the `dahl` that came with the library that wrote it
        the text:2: expected the event `dahl`, which says what wrote the trace: this is another program's
        the text:9: an event whose `ph` is `Q`, expected M, X, C, s or f
        the text:10: a slice whose `cat` is `tusk`, expected task, idle or transfer
        the text:10: no line before says what worker the `tid` 9 is
        the text:12: column 96: expected a task: invalid type: string "one", expected u64
        the text:12: a second task of the number 0
        the text:17: column 109: expected why a worker is idle: unknown variant `weather`, expected one of `submission`, `dependency`, `scheduler`, `transfer`, `end`
        the text:12: `ts` is -10, expected microseconds from 0 to 9e12
        the text:12: column 43: expected an event: expected value
        the text:12: task 1 comes after itself, by way of others
        the text:12: `predicted_us` is -5, expected microseconds from 0 to 9e12
        the text:10: `measured_us` is -5, expected microseconds from 0 to 9e12
        the text:15: `pid` is 0, expected a number from 1
        the text:28: expected nothing after `]`
        the text: it is empty; a trace begins with a line `[`. Was the program ended before it submitted anything?
        the text:1: it ends before it says what wrote it
        the text:2: it ends before it says what wrote it"#]].assert_eq(&errors.join("\n"));
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let error = Trace::read("no/such/run.json").unwrap_err();
    assert_eq!(error.to_string(), "no/such/run.json: No such file or directory (os error 2)");
}

#[test]
fn extents_beyond_all_memory_have_no_size() {
    let text = made::text(&by_hand::diamond()).replace("[2,3]", "[18446744073709551615,3]");
    let mut paje = Vec::new();
    Trace::parse(&text).unwrap().write_paje(&mut paje).unwrap();
    assert!(String::from_utf8(paje).unwrap().contains("18446744073709551615"));
}
