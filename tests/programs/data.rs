//! Programs as data: text, DOT.

use dahl::ops::{add_init, relu_init, sum_init};
use dahl::prelude::*;

#[program]
fn small<'s>(
    scope: &'s Recording<'_>,
    x: &Matrix<'_, f32>,
    total: &mut Matrix<'_, f32>,
) -> dahl::Result<Scalar<'s, f32>> {
    dahl::ops::add_self(total, x)?;
    sum_init(scope, &add_init(scope, &relu_init(scope, x)?, x)?)
}

/// Without the places in the source.
fn without_lines(text: &str) -> String {
    let lines = text.lines().map(|line| line.split("  tests/").next().unwrap_or_default().trim_end());
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_graph_is_text_and_dot() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(1).build()?;
    let (x, mut total) = (rt.zeros([2, 3])?, rt.zeros([2, 3])?);
    let mut program = Small::new(&rt).passes(Passes::none());
    program.call(&x, &mut total)?;
    let graph = program.graph();
    assert_eq!(
        without_lines(&graph.to_string()),
        "small(x: f32[2, 3], total: &mut f32[2, 3]) -> %4: f32[]
    add_self(&mut total, x)
    %2: f32[2, 3] = relu(x)
    %3: f32[2, 3] = add(%2, x)
    %4: f32[] = sum(%3)"
    );
    assert!(graph.to_string().contains("data.rs:13:"), "{graph}");
    assert_eq!(graph.edges(), [(1, 2), (2, 3)]);
    let dot = graph.dot();
    assert!(dot.starts_with("digraph \"small\" {") && dot.contains("t2 -> t3;"), "{dot}");
    Ok(())
}
