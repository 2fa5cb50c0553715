//! The dynamic program: the best stages of each span of layers, level by level.

use std::collections::HashMap;
use std::rc::Rc;

use super::cost::{Context, Costs};
use super::stage::Stage;

/// The first stage of a best pipeline, and the seconds of a minibatch of the whole pipeline.
#[derive(Clone, Copy, Debug)]
struct Choice {
    seconds: f64,
    to: usize,
    machines: usize,
}

const NONE: Choice = Choice { seconds: f64::INFINITY, to: 0, machines: 0 };

/// The best pipelines that end at a cut: for each cut before it and each number of machines.
#[derive(Debug)]
struct Table {
    /// Those that begin there: nothing is received.
    first: Vec<Vec<Choice>>,
    /// Those that go on there: the first stage receives the outputs over the cut.
    next: Vec<Vec<Choice>>,
}

/// The tables that have been computed, by level, context and last cut.
#[derive(Debug)]
pub(super) struct Partition<'a> {
    costs: &'a Costs<'a>,
    tables: HashMap<(usize, Context, usize), Rc<Table>>,
}

impl<'a> Partition<'a> {
    pub(super) fn new(costs: &'a Costs<'a>) -> Self {
        Self { costs, tables: HashMap::new() }
    }

    /// The least seconds of a minibatch in a machine above `level` that has these layers.
    pub(super) fn seconds(&mut self, level: usize, context: Context, from: usize, to: usize) -> f64 {
        if level == 0 {
            return self.costs.worker(context, from, to);
        }
        let table = self.table(level, context, to);
        table.first[from].iter().map(|choice| choice.seconds).fold(f64::INFINITY, f64::min)
    }

    fn table(&mut self, level: usize, context: Context, end: usize) -> Rc<Table> {
        if let Some(table) = self.tables.get(&(level, context, end)) {
            return Rc::clone(table);
        }
        let table = Rc::new(self.build(level, context, end));
        self.tables.insert((level, context, end), Rc::clone(&table));
        table
    }

    /// From the last cut to the first: a pipeline is a stage, and a best pipeline of what comes after it.
    fn build(&mut self, level: usize, context: Context, end: usize) -> Table {
        let costs = self.costs;
        let machines = costs.cluster.levels[level - 1].machines;
        let empty = vec![vec![NONE; machines + 1]; end];
        let mut table = Table { first: empty.clone(), next: empty };
        for from in (0..end).rev() {
            let is_before_end =
                |to: &&usize| **to == end || costs.states.later[**to].binary_search(&end).is_ok();
            let ends: Vec<usize> = costs.states.later[from].iter().filter(is_before_end).copied().collect();
            for to in ends.into_iter().filter(|&to| to <= end) {
                for used in 1..=costs.most(machines) {
                    let afters = if to == end { 0..=0 } else { 1..=machines - used };
                    for after in afters {
                        let inside = costs.context(level, context, used, after);
                        let inner = self.seconds(level - 1, inside, from, to);
                        let mut seconds = costs.stage(level, used, inner, from, to);
                        if to != end {
                            let send = costs.transfer(level, used, to);
                            seconds = seconds.max(send).max(table.next[to][after].seconds);
                        }
                        let total = used + after;
                        let first = &mut table.first[from][total];
                        if seconds < first.seconds {
                            *first = Choice { seconds, to, machines: used };
                        }
                        let seconds = seconds.max(costs.transfer(level, used, from));
                        let next = &mut table.next[from][total];
                        if seconds < next.seconds {
                            *next = Choice { seconds, to, machines: used };
                        }
                    }
                }
            }
        }
        table
    }

    /// The stages of a best pipeline. There is one.
    pub(super) fn stages(
        &mut self,
        level: usize,
        around: Context,
        context: Context,
        from: usize,
        end: usize,
    ) -> Vec<Stage> {
        let table = self.table(level, context, end);
        let totals = table.first[from].iter().enumerate();
        let least = totals.min_by(|a, b| a.1.seconds.total_cmp(&b.1.seconds)).map(|(total, _)| total);
        let mut left = least.expect("there is a number of machines");
        let mut choice = table.first[from][left];
        let (mut from, mut stages) = (from, Vec::new());
        loop {
            let Choice { to, machines, .. } = choice;
            left -= machines;
            let inside = self.costs.context(level, context, machines, left);
            let inner = self.seconds(level - 1, inside, from, to);
            let around = self.costs.inside(level, around, machines, left);
            let span = self.costs.states.span(from, to);
            stages.push(Stage {
                layers: self.costs.states.layers(from, to),
                replicas: machines,
                seconds: self.costs.stage(level, machines, inner, from, to),
                forward_seconds: span.forward,
                backward_seconds: span.backward,
                exchange_seconds: self.costs.exchange(level, machines, from, to),
                parameter_bytes: span.parameters,
                activation_bytes: span.activations,
                output_bytes: if to == end { 0.0 } else { self.costs.states.states[to].output },
                in_flight: around.in_flight(),
                inner: if level == 1 { Vec::new() } else { self.stages(level - 1, around, inside, from, to) },
            });
            if to == end {
                return stages;
            }
            (from, choice) = (to, table.next[to][left]);
        }
    }
}
