//! The comparisons with PyTorch, as the table in `docs/numerics-against-pytorch.md`.

use std::fmt::Write;

use super::closeness::Closeness;

/// The comparisons in f16, bf16, f32 and f64.
pub(crate) type ClosenessOfTypes = [fn() -> &'static Closeness; 4];

/// An op and its comparisons.
pub(crate) type Row = (&'static str, ClosenessOfTypes);

const STEMS: [&[Row]; 15] = [
    super::elementwise::OPS,
    super::comparison::OPS,
    super::regression::OPS,
    super::matmul::OPS,
    super::dot::OPS,
    super::bias::OPS,
    super::conv2d::OPS,
    super::pool2d::OPS,
    super::softmax::OPS,
    super::reduce::OPS,
    super::cross_entropy::OPS,
    super::moved::OPS,
    super::one_hot::OPS,
    super::cast::OPS,
    super::autograd::OPS,
];

/// The document lists exactly these ops, numbers of cases and of differences; `cargo test --test ops pytorch::report --
/// --nocapture` prints the table for it, with the largest relative differences.
#[test]
fn table() {
    let documented =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/numerics-against-pytorch.md"))
            .unwrap();
    let mut table = String::new();
    writeln!(table, "| op | cases | elements | different | closer | f16 | bf16 | f32 | f64 |\n|---|---|---|---|---|---|---|---|---|").unwrap();
    let mut missing = Vec::new();
    for (op, types) in STEMS.into_iter().flatten() {
        let all = types.map(|closeness| closeness());
        let count = |of: fn(&Closeness) -> usize| all.into_iter().map(of).sum::<usize>();
        let [cases, elements] = [count(|closeness| closeness.cases), count(|closeness| closeness.elements)];
        let [closer, deliberate] =
            [count(|closeness| closeness.closer), count(|closeness| closeness.deliberate)];
        let start = format!("| `{op}` | {cases} | {elements} | {deliberate} |");
        if !documented.contains(&start) {
            missing.push(start.clone());
        }
        write!(table, "{start} {closer} |").unwrap();
        for closeness in all {
            write!(table, " {} |", shown(closeness.largest_relative)).unwrap();
        }
        writeln!(table).unwrap();
    }
    println!("{table}");
    assert!(missing.is_empty(), "docs/numerics-against-pytorch.md lacks {missing:#?}");
}

fn shown(relative: f64) -> String {
    if relative == 0.0 { "0".to_owned() } else { format!("{relative:.1e}") }
}
