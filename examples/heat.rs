//! Heat in a ring, in tiles; and, on request, with a mistake to be found: the program of
//! `docs/debugging-and-performance.md`.
//!
//! `heat [--tiles 4] [--tile 1000] [--steps 50] [--rate 0.25] [--type f64] [--print] [--explain CODELET] [--mistake NAME]`

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use dahl::ops::sum;
use dahl::prelude::*;

/// A step of the heat equation: `out = own + rate * (left - 2 own + right)`, neighbours being cells.
#[codelet(R, R, R, W, shape(out = own), flops = 4 * own.len())]
fn diffuse<T: Real>(left: &[T], own: &[T], right: &[T], out: &mut [T], rate: T) {
    assert!(rate.to_f64() <= 0.5, "with a rate of {:?} above 0.5 the method is not stable", rate.to_f64());
    diffuse_cells(left, own, right, &mut out[..], rate);
}

/// The same, but for the last cell, which it forgets.
#[codelet(R, R, R, W, shape(out = own))]
fn diffuse_most<T: Real>(left: &[T], own: &[T], right: &[T], out: &mut [T], rate: T) {
    let most = out.len() - 1;
    diffuse_cells(left, own, right, &mut out[..most], rate);
}

fn diffuse_cells<T: Real>(left: &[T], own: &[T], right: &[T], out: &mut [T], rate: T) {
    for (cell, out) in out.iter_mut().enumerate() {
        let before = if cell == 0 { left[left.len() - 1] } else { own[cell - 1] };
        let after = if cell + 1 == own.len() { right[0] } else { own[cell + 1] };
        *out = own[cell] + rate * (before - own[cell] - own[cell] + after);
    }
}

/// `x = x / total`.
#[codelet(RW)]
fn normalise<T: Real>(x: &mut [T], total: T) {
    x.iter_mut().for_each(|x| *x /= total);
}

/// Adds to `x` the number of the call, which no dependency orders.
#[codelet(RW)]
fn disturb<T: Real>(x: &mut [T]) {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let call = CALLS.fetch_add(1, Ordering::Relaxed);
    x[0] += T::from_f64(call as f64);
}

/// Waits for somebody who does not come, until the stall is reported.
#[codelet(RW)]
fn wait_for_ever<T: Real>(x: &mut [T]) {
    while !REPORTED.load(Ordering::Relaxed) {
        std::hint::spin_loop();
    }
    x[0] = T::ZERO;
}

static REPORTED: AtomicBool = AtomicBool::new(false);

/// What can be made wrong on purpose.
const MISTAKES: [&str; 5] = ["forget", "divide", "order", "stall", "keep"];

struct Settings {
    tiles: usize,
    tile: usize,
    steps: usize,
    rate: f64,
    element: String,
    print: bool,
    explain: Option<String>,
    mistake: Option<String>,
}

impl Settings {
    fn parse(arguments: &[String]) -> Result<Self, String> {
        let mut settings = Self {
            tiles: 4,
            tile: 1000,
            steps: 50,
            rate: 0.25,
            element: "f64".to_owned(),
            print: false,
            explain: None,
            mistake: None,
        };
        let mut arguments = arguments.iter();
        while let Some(name) = arguments.next() {
            if name == "--print" {
                settings.print = true;
                continue;
            }
            let value = arguments.next().ok_or_else(|| format!("{name} needs a value"))?;
            let count = || value.parse().ok().filter(|&count: &usize| count > 0);
            let count = || count().ok_or_else(|| format!("{name} {value}: a whole number above 0 is needed"));
            match name.as_str() {
                "--tiles" => settings.tiles = count()?,
                "--tile" => settings.tile = count()?,
                "--steps" => settings.steps = count()?,
                "--rate" => {
                    settings.rate = value.parse().map_err(|error| format!("{name} {value}: {error}"))?
                }
                "--type" if ["bf16", "f32", "f64"].contains(&value.as_str()) => {
                    settings.element = value.clone()
                }
                "--type" => return Err(format!("--type {value}: one of bf16, f32, f64 is needed")),
                "--explain" => settings.explain = Some(value.clone()),
                "--mistake" if MISTAKES.contains(&value.as_str()) => settings.mistake = Some(value.clone()),
                "--mistake" => {
                    return Err(format!("--mistake {value}: one of {} is needed", MISTAKES.join(", ")));
                }
                _ => return Err(format!("there is no option {name}")),
            }
        }
        Ok(settings)
    }

    fn makes(&self, mistake: &str) -> bool {
        self.mistake.as_deref() == Some(mistake)
    }
}

/// Heats one cell, lets the heat spread, and adds it all up.
fn run<T: Real>(settings: &Settings) -> dahl::Result<()> {
    let rt = Runtime::builder().on_stall(|_| REPORTED.store(true, Ordering::Relaxed)).build()?;
    let mut arena = rt.arena();
    let mut kept = Vec::new();
    let rate = T::from_f64(settings.rate);
    let mut ring: Vec<Vector<T>> = Vec::new();
    for _ in 0..settings.tiles {
        ring.push(rt.zeros([settings.tile])?);
    }
    ring[0].write()?[0] = T::from_f64(1000.0);
    for step in 0..settings.steps {
        if settings.makes("keep") {
            kept.push(rt.zeros::<T, 1>([settings.tiles * settings.tile])?);
        }
        let mut next: Vec<Vector<T>> = Vec::new();
        for index in 0..ring.len() {
            let (left, right) =
                (&ring[(index + ring.len() - 1) % ring.len()], &ring[(index + 1) % ring.len()]);
            let mut out = rt.zeros([settings.tile])?;
            match settings.makes("forget") {
                true => diffuse_most(left, &ring[index], right, &mut out, rate)?,
                false => Diffuse::task(left, &ring[index], right, &mut out, rate).name("step").submit()?,
            }
            next.push(out);
        }
        ring = next;
        if settings.makes("order") {
            ring.iter_mut().try_for_each(|tile| disturb(tile))?;
        }
        if settings.makes("divide") && step == 2 {
            normalise(&mut ring[1], T::ZERO)?;
        }
        if settings.makes("stall") && step == 0 {
            wait_for_ever(&mut ring[0])?;
        }
    }
    let mut total = arena.zeros([])?;
    ring.iter().try_for_each(|tile| sum(tile, &mut total))?;
    println!("heat {:.4}", total.read()?[[]].to_f64());
    drop(total);
    arena.reset();
    if settings.print {
        println!("the first cells: {:.1}", ring[0].read()?.slice(dahl::ndarray::s![..4]));
    }
    if let Some(codelet) = &settings.explain {
        print!("{}", rt.explain(codelet));
    }
    Ok(())
}

pub(crate) fn main() -> std::process::ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = Settings::parse(&arguments).and_then(|settings| {
        let run = match settings.element.as_str() {
            "bf16" => run::<bf16>,
            "f32" => run::<f32>,
            _ => run::<f64>,
        };
        run(&settings).map_err(|error| error.to_string())
    });
    match result {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("heat: {error}");
            std::process::ExitCode::FAILURE
        }
    }
}
