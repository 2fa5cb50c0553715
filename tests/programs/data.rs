//! Programs as data: text, DOT, files.

use dahl::ops::{add_init, relu_init, sum_init};
use dahl::prelude::*;
use dahl::program::Listing;

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

#[test]
fn a_program_is_held_to_its_file() -> Result<(), Box<dyn std::error::Error>> {
    let rt = Runtime::builder().cpu_workers(1).build()?;
    let (x, mut total) = (rt.from_vec([2, 3], vec![1.0; 6])?, rt.zeros([2, 3])?);
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("small.program");
    let mut program = Small::new(&rt);
    program.call(&x, &mut total)?;
    program.graph().save(&path)?;
    let listing = Listing::load(&path)?;
    assert_eq!((listing.to_string(), listing.dot()), (program.graph().to_string(), program.graph().dot()));
    assert_eq!(Small::new(&rt).load(&path)?.call(&x, &mut total)?.to_vec()?, [12.0]);
    // Fusion makes other tasks.
    let mut other = Small::new(&rt).passes(Passes::none()).load(&path)?;
    let refused = other.call(&x, &mut total).expect_err("it records other tasks").to_string();
    assert!(refused.contains("D0027") && refused.contains("relu"), "{refused}");
    let (wide, mut wide_total) = (rt.zeros([2, 4])?, rt.zeros([2, 4])?);
    let refused = Small::new(&rt).load(&path)?.call(&wide, &mut wide_total).expect_err("another shape");
    assert!(refused.to_string().contains("extents: [2, 3] -> [2, 4]"), "{refused}");
    let missing = Small::new(&rt).load("no/small.program").expect_err("it is not there").to_string();
    assert!(missing.contains("no/small.program") && missing.contains("data.rs:"), "{missing}");
    Ok(())
}
