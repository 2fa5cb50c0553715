//! Functions that cannot be programs.

use dahl::prelude::*;

#[program]
fn without_scope() -> dahl::Result<()> {
    Ok(())
}

#[program]
fn scope_by_value(scope: Recording<'_>) -> dahl::Result<()> {
    drop(scope);
    Ok(())
}

#[program]
async fn waits(_scope: &Recording<'_>) -> dahl::Result<()> {
    Ok(())
}

#[program]
unsafe fn dangerous(_scope: &Recording<'_>) -> dahl::Result<()> {
    Ok(())
}

#[program]
fn returns_nothing(_scope: &Recording<'_>, x: &Vector<'_, f32>) {
    drop(x);
}

#[program]
fn unnamed(_scope: &Recording<'_>, (x, y): (&Vector<'_, f32>, &Vector<'_, f32>)) -> dahl::Result<()> {
    drop((x, y));
    Ok(())
}

#[program]
fn of_any(_scope: &Recording<'_>, x: &impl Clone) -> dahl::Result<()> {
    drop(x);
    Ok(())
}

#[program(fast)]
fn unknown_option(_scope: &Recording<'_>) -> dahl::Result<()> {
    Ok(())
}

#[program]
struct NoFunction;

fn main() {}
