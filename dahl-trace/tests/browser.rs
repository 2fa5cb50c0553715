//! The report in a browser: actions of a user, and what the page then shows.

use crate::made::{self, by_hand};
use crate::page::Page;

/// As [`Page::open`]; the test ends if there is no browser.
macro_rules! open {
    ($text:expr) => {
        match Page::open($text) {
            Some(page) => page,
            None => return,
        }
    };
}

#[test]
fn the_summary_is_on_the_page() {
    let page = open!(&made::cholesky(8, 3));
    assert_eq!(page.text("#program"), "cholesky");
    assert!(page.text("#verdict").starts_with("Workers were busy "), "{}", page.text("#verdict"));
    assert_eq!(page.number("report.state.tasks"), 120.0);
    assert_eq!(page.number("document.querySelectorAll('.worker').length"), 4.0);
    assert_eq!(page.number("document.querySelectorAll('#transfers tbody tr').length"), 2.0);
    page.has_no_complaint();
}

#[test]
fn the_wheel_zooms_where_the_pointer_is_and_keys_undo_it() {
    let page = open!(&made::cholesky(8, 3));
    let whole = page.number("report.state.whole");
    let (x, y) = page.task(60);
    let before = page.number("report.state.from");
    page.wheel(x, y, -300.0);
    page.wheel(x, y, -300.0);
    let (from, to) = (page.number("report.state.from"), page.number("report.state.to"));
    assert!(before < from && to < whole && to - from < whole / 2.0, "{from} to {to} of {whole}");
    let (after, _) = page.task(60);
    assert!((after - x).abs() < 1.0, "the task stays under the pointer: {x} became {after}");
    page.drag((x, y), (x + 100.0, y));
    assert!(page.number("report.state.from") < from, "dragging to the right shows what was before");
    page.focus("#chart");
    page.key("0");
    assert_eq!((page.number("report.state.from"), page.number("report.state.to")), (0.0, whole));
    page.key("+");
    page.key("ArrowRight");
    assert!(page.number("report.state.from") > 0.2 * whole);
    page.click("#all");
    assert_eq!(page.number("report.state.to"), whole);
    page.has_no_complaint();
}

#[test]
fn a_click_selects_a_task_and_its_links_lead_on() {
    let text = made::cholesky(8, 3);
    let page = open!(&text);
    let trace = dahl_trace::Trace::parse(&text).unwrap();
    let graph = trace.graph();
    let index = (20..120).find(|&index| graph.predecessors(index).len() > 1).unwrap();
    let number = trace.tasks()[index].number;
    page.click_task(number);
    assert_eq!(page.number("report.state.selected"), number as f64);
    let panel = page.text("#panel");
    assert!(panel.contains(&format!("{} #{number}", trace.tasks()[index].codelet)), "{panel}");
    assert!(panel.contains(&format!("Waited for {} tasks", graph.predecessors(index).len())), "{panel}");
    let before = trace.tasks()[graph.predecessors(index)[0] as usize].number;
    page.click(&format!("#panel [data-task='{before}']"));
    assert_eq!(page.number("report.state.selected"), before as f64);
    assert!(page.text("#panel").contains(&format!("#{number}")), "the way back is there");
    page.focus("#chart");
    page.key("n");
    let next = page.number("report.state.selected");
    let worker = |number: f64| trace.tasks().iter().find(|task| task.number == number as u64).unwrap().worker;
    assert_eq!(worker(next), worker(before as f64));
    page.key("Escape");
    assert!(page.is_true("report.state.selected === null"));
    page.has_no_complaint();
}

#[test]
fn the_table_sorts_and_picks_out_and_the_search_finds() {
    let page = open!(&made::cholesky(8, 3));
    let rows = "[...document.querySelectorAll('#codelets tbody .name button')].map((name) => name.textContent).join(' ')";
    page.click("[data-column='codelet']");
    assert_eq!(page.string(rows), "gemm potrf syrk trsm");
    page.click("[data-column='codelet']");
    assert_eq!(page.string(rows), "trsm syrk potrf gemm");
    page.click("[data-column='tasks']");
    assert_eq!(page.string(rows).split(' ').next(), Some("gemm"));
    assert_eq!(page.string("document.querySelector('th[aria-sort]').textContent"), "tasks");
    page.click("#codelets tbody tr:last-child");
    assert_eq!(page.text("#matches"), "8 tasks found");
    assert!(page.is_true("document.querySelector('#codelets tr.chosen').textContent.startsWith('potrf')"));
    page.click("#codelets tr.chosen");
    assert_eq!(page.text("#matches"), "");
    page.focus("#search");
    page.write("syrk_gpu");
    let found = page.number("report.state.matches");
    assert!(0.0 < found && found < 28.0, "{found}");
    page.key("Enter");
    assert!(page.text("#panel").contains("syrk #"));
    page.has_no_complaint();
}

#[test]
fn the_critical_path_is_shown_and_hidden() {
    let text = made::cholesky(8, 3);
    let page = open!(&text);
    let path = dahl_trace::Trace::parse(&text).unwrap().critical_path();
    assert_eq!(page.number("report.state.path.length"), path.tasks.len() as f64);
    page.click("#critical");
    assert!(page.is_true("report.state.critical"));
    assert_eq!(page.string("document.querySelector('#critical').getAttribute('aria-pressed')"), "true");
    let dimmed = page.pixels();
    page.click("#critical");
    assert_ne!(dimmed, page.pixels(), "what is not on the path is dimmed");
    assert!(!page.is_true("report.state.critical"));
    page.has_no_complaint();
}

#[test]
fn names_are_text_and_never_markup() {
    let evil =
        r#"</script><script>document.title = "no"</script><img src=x onerror="document.title = 'no'">"#;
    let mut lines = by_hand::diamond();
    made::rename(&mut lines, evil);
    let page = open!(&made::text(&lines));
    page.click_task(1);
    assert!(page.text("#panel").contains(evil));
    assert_eq!(page.string("document.title"), "net: where the time goes");
    assert_eq!(page.number("document.images.length"), 0.0);
    page.has_no_complaint();
}

#[test]
fn what_is_odd_about_a_run_is_said() {
    let page = open!(&made::text(&by_hand::diamond()));
    assert!(page.text("#notices").contains("Virtual time"), "{}", page.text("#notices"));
    let text = made::cholesky(8, 3);
    let page = open!(&text[..text.len() / 2]);
    assert!(page.text("#notices").contains("Cut short"), "{}", page.text("#notices"));
    assert!(page.number("report.state.tasks") > 10.0);
    page.has_no_complaint();
}

#[test]
fn runs_of_nothing_and_of_one_task_open() {
    let page = open!(&made::text(&by_hand::nothing()));
    assert_eq!(page.text("#verdict"), "No task ran.");
    page.focus("#chart");
    "0+-npzc".chars().for_each(|key| page.key(&key.to_string()));
    ["ArrowUp", "ArrowDown", "Home", "End", "Escape"].iter().for_each(|key| page.key(key));
    page.has_no_complaint();
    let page = open!(&made::text(&by_hand::one()));
    page.click_task(0);
    assert!(page.text("#panel").contains("It depends on no task in the trace."));
    page.has_no_complaint();
}

#[test]
fn what_failed_is_one_click_away() {
    let mut lines = by_hand::diamond();
    made::fail(&mut lines, 2, "it said: \"no\"");
    let page = open!(&made::text(&lines));
    page.click("#failed");
    assert_eq!(page.number("report.state.selected"), 2.0);
    assert!(page.text("#panel .failure").contains("it said: \"no\""));
    page.has_no_complaint();
}

/// A hundred thousand tasks: the page is below 20 MB, opens, and is redrawn for each step of the wheel.
#[test]
fn a_hundred_thousand_tasks_open() {
    let page = open!(&made::cholesky(84, 15));
    assert_eq!(page.number("report.state.tasks"), 102_340.0);
    assert!(page.bytes < 20_000_000, "{} bytes", page.bytes);
    let (x, y) = page.task(50_000);
    let frames = page.number("report.state.frames");
    for _ in 0..8 {
        page.wheel(x, y, -300.0);
    }
    assert!(page.number("report.state.frames") >= frames + 8.0);
    eprintln!("{} bytes, the last frame in {} ms", page.bytes, page.number("report.state.drawn_ms"));
    page.click_task(50_000);
    assert_eq!(page.number("report.state.selected"), 50_000.0);
    page.has_no_complaint();
}

/// Checks that the tests above would notice errors.
#[test]
fn what_goes_wrong_is_heard() {
    let page = open!(&made::cholesky(2, 1));
    assert!(page.is_true("(console.warn('said'), setTimeout(() => { throw new Error('thrown') }, 0), true)"));
    assert!(page.is_true("new Promise((done) => setTimeout(() => done(true), 0))"));
    // The browser itself reports that there is no such file.
    let missing = "new Promise((done) => { const image = new Image(); image.onerror = () => done(true); image.src = 'none.png' })";
    assert!(page.is_true(missing));
    let complaints = page.complaints();
    assert_eq!(complaints.len(), 3, "{complaints:?}");
    for (complaint, word) in complaints.iter().zip(["said", "thrown", "ERR_FILE_NOT_FOUND"]) {
        assert!(complaint.contains(word), "{complaint}");
    }
}

#[test]
fn power_and_energy_are_on_the_page() {
    let page = open!(&made::text(&by_hand::powered()));
    let energies = page.text("#energies tbody");
    for part in [
        "1.20 mJ",
        "15.0 W",
        "measured by RAPL (powercap)",
        "core (within package-0)",
        "install <the> driver",
    ] {
        assert!(energies.contains(part), "{part}: {energies}");
    }
    assert!(page.text("#figures").contains("unavailable"), "{}", page.text("#figures"));
    let curves = page.text("#curve-rows");
    assert!(curves.contains("package-0") && curves.contains("30.0 W"), "{curves}");
    page.has_no_complaint();
}

#[test]
fn a_trace_without_energy_says_nothing_of_it() {
    let page = open!(&made::cholesky(4, 2));
    assert_eq!(page.text("#energies"), "");
    assert!(!page.text("#figures").contains("energy"));
    page.has_no_complaint();
}
