//! Study: which way of training over ranks is fastest for which batch, width, bandwidth and number of ranks.
//!
//! A network of linear layers is trained on simulated clusters of one worker a rank. Beside each time is that of a calculation
//! by hand ([`by_hand`]): operations by speed, and bytes by bandwidth.

mod by_hand;
mod setup;

use serde::Serialize;

use super::findings::Findings;
use super::plot::{Axis, Figure, Lines, Point, Series, at, number};
use super::session::Session;
use super::{Study, Time};
use crate::trouble::Trouble;
use setup::{GFLOPS, LATENCY_US, LINEAR_LAYERS, Setup};

pub(super) const STUDY: Study = Study {
    name: "ranks",
    question: "Data parallel, pipeline or tensor parallel: which wins at which batch, width and bandwidth?",
    time: Time::Virtual,
    rounds: 1,
    run,
};

/// How the ranks share a training.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Each rank has a part of the batch, and the optimizer's state of a part of the parameters (ZeRO 1 and 2).
    Data,
    /// And a part of the parameters (ZeRO 3).
    Sharded,
    /// Each rank has some layers; a batch ends before the next begins.
    Flushed,
    /// Batches overlap: gradients are by parameters of some batches ago.
    Stashed,
    /// Each rank has a part of each layer.
    Tensor,
}

impl Way {
    const ALL: [Self; 5] = [Self::Data, Self::Sharded, Self::Flushed, Self::Stashed, Self::Tensor];

    fn name(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Sharded => "sharded data",
            Self::Flushed => "flushed pipeline",
            Self::Stashed => "stashed pipeline",
            Self::Tensor => "tensor",
        }
    }

    /// Whether gradients are by the latest parameters, as on one rank.
    fn is_exact(self) -> bool {
        self != Self::Stashed
    }
}

#[derive(Clone, Debug, Serialize)]
struct Row {
    ranks: usize,
    batch: usize,
    width: usize,
    gbytes_per_s: f64,
    way: &'static str,
    step_us: f64,
    by_hand_us: f64,
    sent_bytes: f64,
    by_hand_bytes: f64,
}

/// The rows of a setup, in the order of [`Way::ALL`].
struct Compared {
    setup: Setup,
    rows: Vec<Row>,
}

impl Compared {
    fn of(setup: Setup, seed: u64) -> Result<Self, Trouble> {
        let row = |way: Way| {
            let measured = setup.measure(way, seed)?;
            Ok(Row {
                ranks: setup.ranks,
                batch: setup.batch,
                width: setup.width,
                gbytes_per_s: setup.gbytes_per_s,
                way: way.name(),
                step_us: measured.us,
                by_hand_us: setup.us_by_hand(way),
                sent_bytes: measured.bytes,
                by_hand_bytes: setup.bytes_by_hand(way),
            })
        };
        Ok(Self { setup, rows: Way::ALL.into_iter().map(row).collect::<Result<_, Trouble>>()? })
    }

    /// The fastest of the exact ways, by `us`.
    fn fastest(&self, us: impl Fn(&Row) -> f64) -> &'static str {
        let exact = Way::ALL.iter().zip(&self.rows).filter(|(way, _)| way.is_exact());
        exact.map(|(_, row)| row).min_by(|a, b| us(a).total_cmp(&us(b))).map_or("", |row| row.way)
    }
}

/// What is varied.
struct Grid {
    ranks: usize,
    batches: Vec<usize>,
    widths: Vec<usize>,
}

fn run(session: &mut Session<'_>) -> Result<Findings, Trouble> {
    session.setting("linear_layers", LINEAR_LAYERS as i64);
    session.setting("gflops", GFLOPS);
    session.setting("latency_us", LATENCY_US);
    let bandwidths = session.either(vec![0.25, 1.0, 4.0, 16.0, 64.0], vec![1.0, 64.0]);
    let grid = |ranks, batches: &[usize], widths: &[usize]| Grid {
        ranks,
        batches: batches.to_vec(),
        widths: widths.to_vec(),
    };
    let main = session.either(grid(4, &[32, 128, 512], &[64, 256]), grid(4, &[16, 64], &[32]));
    let others = session.either(vec![2, 8], vec![2]);
    let (batch, width) = session.either((128, 256), (64, 32));
    let mut grids = vec![main];
    grids.extend(others.iter().map(|&ranks| grid(ranks, &[batch], &[width])));
    let setups = setups(&grids, &bandwidths);
    let progress = session.progress(setups.len(), "ranks");
    let mut compared = Vec::new();
    for setup in setups {
        let Setup { ranks, batch, width, gbytes_per_s } = setup;
        progress.begin(format!("{ranks} ranks, batches of {batch}, width {width}, {gbytes_per_s} GB/s"));
        compared.push(Compared::of(setup, session.settings.seed)?);
        progress.done();
    }
    let rows: Vec<Row> = compared.iter().flat_map(|compared| compared.rows.clone()).collect();
    session.table("ranks.csv", &rows)?;
    let main = &grids[0];
    let mut figure = Figure::new("Time of a training step on four ranks, by bandwidth", main.batches.len());
    for &width in &main.widths {
        for &batch in &main.batches {
            let caption = format!("width {width}, batches of {batch}");
            figure = figure.panel(panel(&caption, &compared, |setup| {
                (setup.ranks, setup.width, setup.batch) == (main.ranks, width, batch)
            }));
        }
    }
    session.figure("bandwidth.svg", &figure)?;
    let mut all: Vec<usize> = grids.iter().map(|grid| grid.ranks).collect();
    all.sort_unstable();
    let mut figure =
        Figure::new(format!("Width {width}, batches of {batch}, by the number of ranks"), all.len());
    for ranks in all {
        figure = figure.panel(panel(&format!("{ranks} ranks"), &compared, |setup| {
            (setup.ranks, setup.width, setup.batch) == (ranks, width, batch)
        }));
    }
    session.figure("ranks.svg", &figure)?;
    Ok(findings(&compared))
}

fn setups(grids: &[Grid], bandwidths: &[f64]) -> Vec<Setup> {
    let mut setups = Vec::new();
    for Grid { ranks, batches, widths } in grids {
        for &width in widths {
            for &batch in batches {
                let setup = |&gbytes_per_s| Setup { ranks: *ranks, batch, width, gbytes_per_s };
                setups.extend(bandwidths.iter().map(setup));
            }
        }
    }
    setups
}

/// The times of each way over the bandwidth, of the setups that `is_shown` names.
fn panel(caption: &str, compared: &[Compared], is_shown: impl Fn(&Setup) -> bool) -> Lines {
    let shown: Vec<&Compared> = compared.iter().filter(|compared| is_shown(&compared.setup)).collect();
    let bandwidths: Vec<f64> = shown.iter().map(|compared| compared.setup.gbytes_per_s).collect();
    let x = Axis::log("bandwidth of a port (GB/s)").ticks(at(&bandwidths, |value| value));
    let mut lines = Lines::new(caption, x, Axis::log("time of a step (us)"));
    for (index, way) in Way::ALL.iter().enumerate() {
        let point =
            |compared: &&Compared| Point::exact(compared.setup.gbytes_per_s, compared.rows[index].step_us);
        lines = lines.series(Series::new(way.name(), shown.iter().map(point).collect()));
    }
    let alone = |compared: &&Compared| (compared.setup.gbytes_per_s, compared.setup.compute_us());
    lines.guide("products alone, shared by all ranks", shown.iter().map(alone).collect())
}

/// A line for each setup, and how close the calculation by hand comes.
fn findings(compared: &[Compared]) -> Findings {
    let [data, sharded, flushed, stashed, tensor] = Way::ALL.map(Way::name);
    let mut findings = Findings::new([
        "ranks", "width", "batch", "GB/s", data, sharded, flushed, stashed, tensor, "fastest", "by hand",
    ]);
    for of_setup in compared {
        let Setup { ranks, batch, width, gbytes_per_s } = of_setup.setup;
        let first = [ranks, width, batch].map(|value| value.to_string()).into_iter();
        let times = of_setup.rows.iter().map(|row| number(row.step_us));
        let fastest = [of_setup.fastest(|row| row.step_us), of_setup.fastest(|row| row.by_hand_us)];
        let last = fastest.map(str::to_owned);
        findings.row(first.chain([number(gbytes_per_s)]).chain(times).chain(last));
    }
    let is_same =
        |compared: &&Compared| compared.fastest(|row| row.step_us) == compared.fastest(|row| row.by_hand_us);
    findings.remark(format!(
        "Times of a step in us. *Fastest* is the fastest way whose gradients are by the latest parameters, so not the stashed \
         pipeline. The calculation by hand names the same one in {} of {} lines.",
        compared.iter().filter(is_same).count(),
        compared.len()
    ));
    for (index, way) in Way::ALL.iter().enumerate() {
        let mut ratios: Vec<f64> = compared
            .iter()
            .map(|compared| compared.rows[index].step_us / compared.rows[index].by_hand_us)
            .collect();
        ratios.sort_by(f64::total_cmp);
        let (least, median, most) = (ratios[0], ratios[ratios.len() / 2], ratios[ratios.len() - 1]);
        findings.remark(format!(
            "{}: a step takes {median:.2} times what the calculation says, in the median; {least:.2} times at least, {most:.2} at most.",
            way.name()
        ));
    }
    findings
}
