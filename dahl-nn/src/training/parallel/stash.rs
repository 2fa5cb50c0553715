//! [`Stash`]: the versions of parameters that the batches in a pipeline have seen.

use std::collections::VecDeque;
use std::mem;

use dahl::ops;
use dahl::prelude::*;

use super::pipeline::Pipeline;
use super::stages::Stages;
use crate::error::Error;
use crate::module::Module;

/// The stages of a model, and the versions of each parameter beside the latest, which is the parameter's value.
///
/// A batch sees the earliest version. Its update makes the next version in the same memory, which no batch needs any more: so
/// a stage has as many versions as there are batches in it, and a batch waits for the memory of the one whose place it
/// takes. That alone makes the tasks of a stage alternate between forward and backward passes.
#[derive(Debug)]
pub(crate) struct Stash<T: Real> {
    stages: Stages,
    /// The stage of each parameter, also of those that do not learn.
    stage_of: Vec<usize>,
    /// The rank that owns each parameter, once [`own`](Self::own) has been called.
    owner_of: Vec<usize>,
    /// For each parameter, how many versions it has.
    versions: Vec<usize>,
    /// For each parameter, the versions beside the latest, the earliest first.
    earlier: Vec<VecDeque<Vector<'static, T>>>,
}

impl<T: Real> Stash<T> {
    /// For a model whose layers have so many parameters.
    pub(crate) fn new(
        pipeline: &Pipeline,
        stages: Stages,
        of_layers: impl IntoIterator<Item = usize>,
    ) -> Self {
        let stage_of = stages.of_parameters(of_layers);
        let versions = stage_of.iter().map(|stage| pipeline.versions_of(*stage)).collect();
        let mut earlier = Vec::new();
        earlier.resize_with(stage_of.len(), VecDeque::new);
        Self { stages, stage_of, owner_of: Vec::new(), versions, earlier }
    }

    /// The stages.
    pub(crate) fn stages(&self) -> &Stages {
        &self.stages
    }

    /// How many micro-batches the pipeline works on side by side.
    pub(crate) fn depth(&self) -> usize {
        self.stages.replicas().places()
    }

    /// The rank that reads the samples of a micro-batch, by its number in its batch: that of the first stage.
    pub(crate) fn first_rank(&self, micro_batch: usize) -> usize {
        self.stages.rank_of(0, micro_batch)
    }

    /// The places of the stage that has parameter number `index`, in the order of their turns, and the rank that owns the parameter.
    pub(crate) fn places_and_owner(&self, index: usize) -> (&[usize], usize) {
        (self.stages.replicas().of_stage(self.stage_of[index]), self.owner_of[index])
    }

    /// Gives the parameters to the ranks of their stages.
    pub(crate) fn own(&mut self, model: &mut impl Module<T>, arena: &Arena) -> dahl::Result<()> {
        let lens = model.parameters().map(|named| named.parameter().len());
        self.owner_of = self.stages.owners(self.stage_of.iter().copied().zip(lens));
        let mut owners = self.owner_of.iter();
        model.for_each_parameter(|_, parameter| {
            let Some(owner) = owners.next() else { return Ok(()) };
            arena.set_owner(&parameter.value, *owner)?;
            arena.set_owner(&parameter.gradient, *owner)
        })
    }

    /// Makes the earliest version of each parameter that learns its value, for a batch that enters the pipeline.
    pub(crate) fn enter(&mut self, model: &mut impl Module<T>, arena: &Arena) -> dahl::Result<()> {
        let mut index = 0;
        model.for_each_parameter(|name, parameter| {
            let (earlier, beside) = (&mut self.earlier[index], self.versions[index] - 1);
            let owner = self.owner_of[index];
            index += 1;
            if parameter.frozen {
                // When it learns again, all versions are its value.
                earlier.clear();
            }
            if parameter.frozen || beside == 0 {
                return Ok(());
            }
            while earlier.len() < beside {
                let mut version = parameter.value.zeros_like()?;
                arena.set_owner(&version, owner)?;
                ops::copy(&parameter.value, &mut version)?;
                earlier.push_back(version);
            }
            let Some(version) = earlier.pop_front() else { return Ok(()) };
            match mem::replace(&mut parameter.value, version).into_static() {
                Ok(latest) => {
                    earlier.push_back(latest);
                    Ok(())
                }
                Err(part) => {
                    parameter.value = part;
                    Err(Error::PartOfArray { parameter: name.to_string() }.into())
                }
            }
        })
    }

    /// Makes the latest version of each parameter its value again, in the memory of the one that the batch has seen.
    pub(crate) fn leave(&mut self, model: &mut impl Module<T>) -> dahl::Result<()> {
        let mut earlier = self.earlier.iter();
        model.for_each_parameter(|_, parameter| match earlier.next().and_then(VecDeque::back) {
            Some(latest) if !parameter.frozen => ops::copy(latest, &mut parameter.value),
            _ => Ok(()),
        })
    }
}
