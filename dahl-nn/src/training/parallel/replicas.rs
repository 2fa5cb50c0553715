//! [`Replicas`]: how many replicas each stage of a pipeline has, and which micro-batches each of them gets.

use dahl_plan::pipeline::Stage;

/// The replicas of each stage of a pipeline. Each is a place, and the places of all stages are numbered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Replicas {
    /// For each stage, its places in the order in which they get the micro-batches of a batch, in turn.
    dealt: Vec<Vec<usize>>,
    /// The number of all places.
    places: usize,
}

impl Replicas {
    /// So many for each stage, whose places are side by side.
    pub(crate) fn of(counts: impl IntoIterator<Item = usize>) -> Self {
        let mut places = 0;
        let mut side_by_side = |count| {
            places += count;
            (places - count..places).collect()
        };
        let dealt = counts.into_iter().map(&mut side_by_side).collect();
        Self { dealt, places }
    }

    /// Those of a plan's innermost stages, and the layers of these.
    pub(crate) fn planned(stages: &[Stage]) -> (Self, Vec<&[usize]>) {
        let (mut dealt, mut layers) = (Vec::new(), Vec::new());
        let places = width(stages);
        add_innermost(stages, &[0], &mut dealt, &mut layers);
        (Self { dealt, places }, layers)
    }

    /// The number of stages.
    pub(crate) fn stages(&self) -> usize {
        self.dealt.len()
    }

    /// The number of places of all stages.
    pub(crate) fn places(&self) -> usize {
        self.places
    }

    /// The places of a stage, in the order in which they get micro-batches.
    pub(crate) fn of_stage(&self, stage: usize) -> &[usize] {
        &self.dealt[stage]
    }

    /// Whether a stage has several.
    pub(crate) fn are_several(&self) -> bool {
        self.dealt.iter().any(|places| places.len() > 1)
    }

    /// How many micro-batches each replica of a stage may have: as many as pass through it until the gradients of the first one
    /// come back, if later stages share them.
    pub(crate) fn in_flight(&self, stage: usize) -> usize {
        let later: usize = self.dealt[stage + 1..].iter().map(Vec::len).sum();
        1 + later.div_ceil(self.dealt[stage].len())
    }
}

/// The places of some stages that follow each other.
fn width(stages: &[Stage]) -> usize {
    stages.iter().map(|stage| stage.replicas * width_of_replica(stage)).sum()
}

fn width_of_replica(stage: &Stage) -> usize {
    if stage.inner.is_empty() { 1 } else { width(&stage.inner) }
}

/// Adds the innermost stages of a machine that is there several times, from these places on, in the order of their turns.
fn add_innermost<'p>(
    stages: &'p [Stage],
    machines: &[usize],
    dealt: &mut Vec<Vec<usize>>,
    layers: &mut Vec<&'p [usize]>,
) {
    let mut before = 0;
    for stage in stages {
        let (replicas, width) = (stage.replicas, width_of_replica(stage));
        // The machines have turns, and in each of them its replicas.
        let turns = 0..machines.len() * replicas;
        let places: Vec<_> = turns
            .map(|turn| machines[turn % machines.len()] + before + turn / machines.len() * width)
            .collect();
        before += replicas * width;
        if stage.inner.is_empty() {
            dealt.push(places);
            layers.push(&stage.layers);
        } else {
            add_innermost(&stage.inner, &places, dealt, layers);
        }
    }
}

#[cfg(test)]
mod tests {
    use dahl_plan::pipeline::Stage;

    use super::Replicas;

    fn stage(layers: &[usize], replicas: usize, inner: Vec<Stage>) -> Stage {
        Stage {
            layers: layers.to_vec(),
            replicas,
            seconds: 0.0,
            forward_seconds: 0.0,
            backward_seconds: 0.0,
            exchange_seconds: 0.0,
            parameter_bytes: 0.0,
            activation_bytes: 0.0,
            output_bytes: 0.0,
            in_flight: 1,
            inner,
        }
    }

    #[test]
    fn places_are_side_by_side_and_as_many_micro_batches_in_flight_as_planned() {
        let replicas = Replicas::of([3, 1, 2]);
        assert_eq!([0, 1, 2].map(|stage| replicas.of_stage(stage)), [&[0, 1, 2][..], &[3], &[4, 5]]);
        assert_eq!((replicas.places(), replicas.stages()), (6, 3));
        assert_eq!([0, 1, 2].map(|stage| replicas.in_flight(stage)), [2, 3, 1]);
        let single = Replicas::of([1; 4]);
        assert_eq!([0, 1, 2, 3].map(|stage| single.in_flight(stage)), [4, 3, 2, 1]);
        assert!(replicas.are_several() && !single.are_several());
    }

    /// Two machines, each a pipeline of a stage on two workers and one on one; and a machine after them.
    #[test]
    fn outer_replicas_have_turns_before_inner_ones() {
        let inner = vec![stage(&[0], 2, Vec::new()), stage(&[1], 1, Vec::new())];
        let last = vec![stage(&[2], 1, Vec::new())];
        let stages = [stage(&[0, 1], 2, inner), stage(&[2], 1, last)];
        let (replicas, layers) = Replicas::planned(&stages);
        assert_eq!(layers, [[0], [1], [2]]);
        assert_eq!(replicas.places(), 7);
        assert_eq!(replicas.of_stage(0), [0, 3, 1, 4], "machine 0, machine 1, and again");
        assert_eq!(replicas.of_stage(1), [2, 5]);
        assert_eq!(replicas.of_stage(2), [6]);
    }
}
