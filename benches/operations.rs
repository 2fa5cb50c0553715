//! Single operations: answers each line of its input, a [`Request`], by a line of JSON with the seconds of the median call.
//!
//! `benches/pytorch/compare_operations.py` asks it and its counterpart in PyTorch, `benches/pytorch/operations.py`, in turn.
//! With `--on-device`, which `scripts/gpu_check.sh` asks, tasks run on a CUDA device, and the answer says how many did not.
//!
//! By hand: `echo 'layer_norm forward f32 1 0.3 16384 768' | cargo bench -p dahl-benches --bench operations`.

#[path = "operations/attention.rs"]
mod attention;
#[path = "operations/cells.rs"]
mod cells;
#[path = "operations/channels.rs"]
mod channels;
#[path = "operations/clock.rs"]
mod clock;
#[path = "operations/convolution.rs"]
mod convolution;
#[path = "operations/heads.rs"]
mod heads;
mod on_devices;
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
use serde_json::{Value, json};

use clock::{Clock, Measured};
use on_devices::OnDevices;
use request::Request;

fn measured<T: Real>(clock: &Clock<'_>, request: &Request) -> Result<Measured> {
    match request.kind.as_str() {
        "attention" => attention::attention::<T>(clock, request),
        "heads" => heads::heads::<T>(clock, request),
        "rotary" => heads::rotary::<T>(clock, request),
        "layer_norm" => rows::layer_norm::<T>(clock, request),
        "rms_norm" => rows::rms_norm::<T>(clock, request),
        "softmax" => rows::softmax::<T>(clock, request),
        "gelu" => rows::gelu::<T>(clock, request),
        "permute" => rows::permute::<T>(clock, request),
        "cross_entropy" => rows::cross_entropy::<T>(clock, request),
        "cross_entropy_weighted" => rows::cross_entropy_weighted::<T>(clock, request),
        "dropout" => rows::dropout::<T>(clock, request),
        "cumulative_sum" => rows::cumulative_sum::<T>(clock, request),
        "batch_norm" => channels::batch_norm::<T>(clock, request),
        "group_norm" => channels::group_norm::<T>(clock, request),
        "max_pool" => channels::max_pool::<T>(clock, request),
        "avg_pool" => channels::avg_pool::<T>(clock, request),
        "upsample_nearest" => channels::upsample_nearest::<T>(clock, request),
        "upsample_linear" => channels::upsample_linear::<T>(clock, request),
        "pad" => channels::pad::<T>(clock, request),
        "pad_reflect" => channels::pad_reflect::<T>(clock, request),
        "lstm_cell" => cells::lstm_cell::<T>(clock, request),
        "gru_cell" => cells::gru_cell::<T>(clock, request),
        "segment_sum" => tables::segment_sum::<T>(clock, request),
        "segment_softmax" => tables::segment_softmax::<T>(clock, request),
        "adamw" => tables::adamw::<T>(clock, request),
        "embedding" => tables::embedding::<T>(clock, request),
        "bmm" => products::batched::<T>(clock, request),
        "convolution" => convolution::convolution::<T>(clock, request),
        other => panic!("no operation {other}"),
    }
}

/// One answer.
fn answer(rt: &Runtime, request: &Request, is_first: bool, is_on_device: bool) -> Result<Value> {
    let clock = Clock::new(rt, request, is_first, is_on_device);
    let before = tasks(rt);
    let Measured { seconds, copy_gb_per_s } = match request.element.as_str() {
        "f16" => measured::<f16>(&clock, request),
        "f32" => measured::<f32>(&clock, request),
        "f64" => measured::<f64>(&clock, request),
        "bf16" => measured::<bf16>(&clock, request),
        other => panic!("no element type {other}"),
    }?;
    if !is_on_device {
        return Ok(json!({ "seconds": seconds, "copy_gb_per_s": copy_gb_per_s }));
    }
    let [on_cpus, all] = tasks(rt);
    Ok(json!({ "seconds": seconds, "tasks": all - before[1], "tasks_on_cpus": on_cpus - before[0] }))
}

/// The tasks that were run so far: by CPU workers and the host, and by all.
fn tasks(rt: &Runtime) -> [u64; 2] {
    let (infos, statistics) = (rt.worker_infos(), rt.statistics());
    let of_host = statistics.host.as_ref().map_or(0, |host| host.tasks);
    let workers = statistics.workers.iter().zip(infos);
    let on_cpus = workers.filter(|(_, info)| info.is_cpu()).map(|(worker, _)| worker.tasks).sum::<u64>();
    let all = statistics.workers.iter().map(|worker| worker.tasks).sum::<u64>();
    [on_cpus + of_host, all + of_host]
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let is_on_device = std::env::args().any(|argument| argument == "--on-device");
    let runtimes: Vec<Runtime> = if is_on_device {
        let builder = Runtime::builder().cpu_workers(1).cuda_devices(1);
        vec![builder.custom_scheduler(OnDevices::default()).check(false).build()?]
    } else {
        let of = |workers| Runtime::builder().cpu_workers(workers).check(false).build();
        [1, 2].map(of).into_iter().collect::<Result<_>>()?
    };
    let mut seen = HashSet::new();
    for line in io::stdin().lock().lines() {
        let line = line?;
        let request: Request = line.parse()?;
        let rt = runtimes.get(request.workers - 1).ok_or("a device is asked with 1 worker")?;
        let is_first = seen.insert(request.footprint());
        // What one operation lacks is no reason not to measure the next.
        let answer = answer(rt, &request, is_first, is_on_device);
        println!("{}", answer.unwrap_or_else(|error| json!({ "error": error.to_string() })));
    }
    Ok(())
}
