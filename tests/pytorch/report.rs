//! What was compared with PyTorch, as the table in `docs/numerics.md`.

use std::fmt::Write;

use crate::closeness::Tally;

/// An op, and the comparisons in f16, bf16, f32 and f64.
pub(crate) type Row = (&'static str, [fn() -> Tally; 4]);

const STEMS: [(&str, &[Row]); 11] = [
    ("elementwise", crate::elementwise::OPS),
    ("matmul", crate::matmul::OPS),
    ("dot", crate::dot::OPS),
    ("bias", crate::bias::OPS),
    ("conv2d", crate::conv2d::OPS),
    ("pool2d", crate::pool2d::OPS),
    ("softmax", crate::softmax::OPS),
    ("reduce", crate::reduce::OPS),
    ("cross_entropy", crate::cross_entropy::OPS),
    ("moved", crate::moved::OPS),
    ("one_hot, cast", &[crate::one_hot::OPS[0], crate::cast::OPS[0], crate::cast::OPS[1]]),
];

/// The document tells of exactly these ops and numbers of cases; `cargo test --test pytorch report -- --nocapture`
/// prints the table to put there, with the largest relative differences.
#[test]
fn table() {
    let documented =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/numerics.md")).unwrap();
    let mut table = String::new();
    writeln!(table, "| op | cases | elements | closer | different | f16 | bf16 | f32 | f64 |\n|---|---|---|---|---|---|---|---|---|").unwrap();
    let mut missing = Vec::new();
    for (op, types) in STEMS.iter().flat_map(|(_, rows)| rows.iter()) {
        let tallies = types.map(|compare| compare());
        let count = |of: fn(&Tally) -> usize| tallies.iter().map(of).sum::<usize>();
        let [cases, elements] = [count(|tally| tally.cases), count(|tally| tally.elements)];
        let [closer, deliberate] = [count(|tally| tally.closer), count(|tally| tally.deliberate)];
        let start = format!("| `{op}` | {cases} | {elements} |");
        if !documented.contains(&start) {
            missing.push(start.clone());
        }
        write!(table, "{start} {closer} | {deliberate} |").unwrap();
        for tally in &tallies {
            write!(table, " {} |", shown(tally.largest_relative)).unwrap();
        }
        writeln!(table).unwrap();
    }
    println!("{table}");
    assert!(missing.is_empty(), "docs/numerics.md lacks {missing:#?}");
}

fn shown(relative: f64) -> String {
    if relative == 0.0 { "0".to_owned() } else { format!("{relative:.1e}") }
}
