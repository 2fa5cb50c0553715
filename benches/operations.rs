//! Single operations: answers each line of its input, a [`Request`], by a line of JSON with the seconds of the median call.
//!
//! `benches/pytorch/compare_operations.py` asks it and its counterpart in PyTorch, `benches/pytorch/operations.py`, in turn.
//! By hand: `echo 'layer_norm forward f32 1 0.3 16384 768' | cargo bench -p dahl-benches --bench operations`.

#[path = "operations/attention.rs"]
mod attention;
#[path = "operations/clock.rs"]
mod clock;
#[path = "operations/convolution.rs"]
mod convolution;
#[path = "operations/products.rs"]
mod products;
#[path = "operations/request.rs"]
mod request;
#[path = "operations/rows.rs"]
mod rows;
#[path = "operations/tables.rs"]
mod tables;

use std::collections::HashSet;
use std::error::Error;
use std::io::{self, BufRead};

use dahl::Result;
use dahl::prelude::*;
use serde_json::json;

use clock::{Clock, Measured};
use request::Request;

fn measured<T: Real>(clock: &Clock<'_>, request: &Request) -> Result<Measured> {
    match request.kind.as_str() {
        "attention" => attention::attention::<T>(clock, request),
        "layer_norm" => rows::layer_norm::<T>(clock, request),
        "rms_norm" => rows::rms_norm::<T>(clock, request),
        "softmax" => rows::softmax::<T>(clock, request),
        "gelu" => rows::gelu::<T>(clock, request),
        "permute" => rows::permute::<T>(clock, request),
        "cross_entropy" => rows::cross_entropy::<T>(clock, request),
        "adamw" => tables::adamw::<T>(clock, request),
        "embedding" => tables::embedding::<T>(clock, request),
        "bmm" => products::batched::<T>(clock, request),
        "convolution" => convolution::convolution::<T>(clock, request),
        other => panic!("no operation {other}"),
    }
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let runtimes = [1, 2].map(|workers| Runtime::builder().cpu_workers(workers).check(false).build());
    let [one, two] = runtimes;
    let runtimes = [one?, two?];
    let mut seen = HashSet::new();
    for line in io::stdin().lock().lines() {
        let line = line?;
        let request: Request = line.parse()?;
        let rt = &runtimes[request.workers - 1];
        let clock = Clock::new(rt, &request, seen.insert(request.footprint()));
        let Measured { seconds, copy_gb_per_s } = match request.element.as_str() {
            "f32" => measured::<f32>(&clock, &request),
            "f64" => measured::<f64>(&clock, &request),
            "bf16" => measured::<bf16>(&clock, &request),
            other => panic!("no element type {other}"),
        }?;
        println!("{}", json!({ "seconds": seconds, "copy_gb_per_s": copy_gb_per_s }));
    }
    Ok(())
}
