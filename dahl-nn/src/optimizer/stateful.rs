//! [`Stateful`]: an optimizer of one [`UpdateRule`], with arrays for each parameter and settings for groups of parameters.

use std::fmt;

use dahl::ops;
use dahl::prelude::*;

use dahl::program::{Bindings, ProgramArgument, Slots, with_slot};

use super::{Optimizer, ParameterState, UpdateRule};
use crate::module::{Module, Name, Parameter};
use crate::setting::Settings;

/// An optimizer of one [`UpdateRule`]: `Sgd`, `AdamW` and the others are names of it.
///
/// The update of a parameter is one task. The arrays of a parameter are created with its first update, in the compute type.
///
/// An invalid setting is returned as an error by the next call that can fail, usually `step` or `fit`, with the line that
/// set it.
pub struct Stateful<T: Real, R> {
    pub(super) rule: R,
    pub(super) settings: Settings,
    /// The rate before any schedule: those of groups are in proportion to it.
    base_rate: f64,
    has_master_weights: bool,
    groups: Vec<Group<T, R>>,
    /// By the number of the parameter.
    parameters: Vec<Option<Tracked<T>>>,
}

/// Settings of their own for some of the parameters.
struct Group<T: Real, R> {
    includes: Box<dyn Fn(&str) -> bool + Send>,
    options: Stateful<T, R>,
}

/// A parameter's state, and its group.
struct Tracked<T: Real> {
    state: ParameterState<T>,
    group: Option<usize>,
    /// The slot of the update's numbers in the call of a program, if the rule announces them.
    slot: Option<usize>,
    /// How often it was updated when it was bound to a program.
    steps_when_bound: u64,
}

impl<T: Real, R: UpdateRule> Stateful<T, R> {
    /// An optimizer that updates by this rule. The learning rate is finite, and at least 0.
    #[track_caller]
    pub fn with_rule(rule: R) -> Self {
        let mut optimizer = Self {
            rule,
            settings: Settings::default(),
            base_rate: 0.0,
            has_master_weights: false,
            groups: Vec::new(),
            parameters: Vec::new(),
        };
        let rate = *optimizer.rule.learning_rate();
        optimizer.set_base_rate(rate);
        optimizer
    }

    /// Sets the learning rate: finite, at least 0.
    #[track_caller]
    pub fn learning_rate(mut self, rate: f64) -> Self {
        self.set_base_rate(rate);
        self
    }

    #[track_caller]
    fn set_base_rate(&mut self, rate: f64) {
        self.require_rate(rate);
        self.base_rate = rate;
        *self.rule.learning_rate() = rate;
    }

    /// Sets the learning rate of the next steps, usually to that of a [schedule](crate::schedule): finite, at least 0. The
    /// rates of groups change in proportion.
    #[track_caller]
    pub fn set_learning_rate(&mut self, rate: f64) {
        self.require_rate(rate);
        *self.rule.learning_rate() = rate;
        for Group { options, .. } in &mut self.groups {
            let is_in_proportion = options.base_rate != self.base_rate && self.base_rate != 0.0;
            let factor = if is_in_proportion { options.base_rate / self.base_rate } else { 1.0 };
            *options.rule.learning_rate() = rate * factor;
        }
    }

    /// The learning rate of the parameters that are in no group.
    pub fn current_learning_rate(&self) -> f64 {
        let mut rule = self.rule;
        *rule.learning_rate()
    }

    #[track_caller]
    fn require_rate(&mut self, rate: f64) {
        self.settings.require(is_factor::<T>(rate), R::LEARNING_RATE, rate, "a finite number from 0");
    }

    /// Keeps a master copy of each parameter of `f16` or `bf16` in `f32`, or none, the default. Updates are added to the master copy,
    /// and the parameter is its rounded value, so that updates below the spacing of the parameter's type add up (Micikevicius et
    /// al. 2018, [arXiv:1710.03740](https://arxiv.org/abs/1710.03740), section 3.1). The same task updates both. Parameters of
    /// other types are their own master copies.
    ///
    /// A [group](Self::group) has its own setting, as it is set so far when the group is made.
    ///
    /// A master copy is an array of the optimizer's state, `master`: checkpoints have it.
    /// [`load_checkpoint`](crate::load_checkpoint) refuses a checkpoint without master copies if they are on, and one with
    /// them if they are off.
    /// A parameter that something else has written, such as [`Module::load`], goes on from what was written.
    ///
    /// ```
    /// use dahl::prelude::*;
    /// use dahl_nn::prelude::*;
    ///
    /// # fn main() -> dahl::Result<()> {
    /// let rt = Runtime::new()?;
    /// let arena = rt.arena();
    /// let mut layer = Linear::<bf16>::new(&mut Init::new(&arena, 1), 1, 1)?;
    /// dahl::ops::fill(&mut layer.weight.value, bf16::ONE)?;
    /// dahl::ops::fill(&mut layer.weight.gradient, bf16::ONE)?;
    /// let mut sgd = Sgd::new(1e-3).master_weights(true);
    /// for _ in 0..10 {
    ///     sgd.step(&mut layer)?;
    /// }
    /// // The nearest number below 1 is 1 - 2^-8: without a master copy, each update would be lost.
    /// assert_eq!(layer.weight.value.to_vec()?, [bf16::from_f64(0.99)]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn master_weights(mut self, has_master_weights: bool) -> Self {
        self.has_master_weights = has_master_weights;
        self
    }

    /// Gives the parameters whose names are in a group settings of their own: `set` changes a copy of those that are set so
    /// far. A parameter is in the first group that includes its name.
    ///
    /// ```
    /// use dahl_nn::prelude::*;
    ///
    /// let optimizer = AdamW::<f32>::new(1e-3).weight_decay(0.1);
    /// let optimizer = optimizer.group(|name| name.ends_with("bias"), |group| group.weight_decay(0.0));
    /// # drop(optimizer);
    /// ```
    #[track_caller]
    pub fn group(
        mut self,
        includes: impl Fn(&str) -> bool + Send + 'static,
        set: impl FnOnce(Self) -> Self,
    ) -> Self {
        let copy = Self {
            rule: self.rule,
            settings: Settings::default(),
            base_rate: self.base_rate,
            has_master_weights: self.has_master_weights,
            groups: Vec::new(),
            parameters: Vec::new(),
        };
        let options = set(copy);
        self.settings.require(
            options.groups.is_empty(),
            "group",
            "a group with groups",
            "no group in a group",
        );
        self.groups.push(Group { includes: Box::new(includes), options });
        self
    }

    fn group_of(&self, name: &str) -> Option<usize> {
        self.groups.iter().position(|group| (group.includes)(name))
    }

    fn rule_of(&self, group: Option<usize>) -> R {
        group.map_or(self.rule, |group| self.groups[group].options.rule)
    }

    /// The names of the arrays of a parameter in this group.
    fn names_in(&self, group: Option<usize>) -> impl Iterator<Item = &'static str> {
        let options = group.map_or(self, |group| &self.groups[group].options);
        let is_rounded = T::NAME != <T::Compute as Element>::NAME;
        ParameterState::<T>::names(options.rule.state_names(), options.has_master_weights && is_rounded)
    }

    /// Makes the state of a parameter, unless there is one that fits.
    fn require_state(
        &mut self,
        index: usize,
        name: &Name<'_>,
        parameter: &Parameter<'_, T>,
    ) -> dahl::Result<()> {
        let is_known = self.parameters.get(index).and_then(Option::as_ref);
        // State begins anew for another parameter, and if a setting now asks for other arrays.
        let fits = |tracked: &Tracked<T>| {
            tracked.state.shape == parameter.shape
                && self.names_in(tracked.group).eq(tracked.state.array_names.iter().copied())
        };
        if !is_known.is_some_and(fits) {
            let tracked = self.track(name, parameter)?;
            while self.parameters.len() <= index {
                self.parameters.push(None);
            }
            self.parameters[index] = Some(tracked);
        }
        Ok(())
    }

    /// The state of a parameter that has not been updated yet.
    fn track(&self, name: &Name<'_>, parameter: &Parameter<'_, T>) -> dahl::Result<Tracked<T>> {
        let name = name.to_string();
        let group = self.group_of(&name);
        let rule = self.rule_of(group);
        let initial = <T::Compute as Real>::from_f64(rule.initial_state());
        let array_names: Vec<_> = self.names_in(group).collect();
        let mut arrays = Vec::new();
        for index in 0..array_names.len() {
            let mut array = parameter.value.zeros_of::<T::Compute, 1>(parameter.value.shape())?;
            // A master copy needs no first value: see `Mastered`.
            if index < rule.state_names().len() && initial != T::Compute::ZERO {
                ops::fill(&mut array, initial)?;
            }
            arrays.push(array);
        }
        let state = ParameterState { name, shape: parameter.shape.clone(), steps: 0, array_names, arrays };
        Ok(Tracked { state, group, slot: None, steps_when_bound: 0 })
    }
}

impl<T: Real, R: UpdateRule> Optimizer<T> for Stateful<T, R> {
    fn check_settings(&self) -> dahl::Result<()> {
        self.settings.check()?;
        for group in &self.groups {
            group.options.settings.check()?;
        }
        Ok(())
    }

    fn use_learning_rate(&mut self, rate: f64) -> dahl::Result<()> {
        self.set_learning_rate(rate);
        self.check_settings()
    }

    fn update(
        &mut self,
        index: usize,
        name: &Name<'_>,
        parameter: &mut Parameter<'_, T>,
    ) -> dahl::Result<()> {
        self.check_settings()?;
        self.require_state(index, name, parameter)?;
        let group = self.parameters[index].as_ref().and_then(|tracked| tracked.group);
        let rule = self.rule_of(group);
        let Some(Tracked { state, slot, .. }) = &mut self.parameters[index] else { return Ok(()) };
        let Parameter { value, gradient, .. } = parameter;
        let mut update = || state.update(&rule, value, gradient);
        match *slot {
            Some(slot) => with_slot(slot, update)?,
            None => update()?,
        }
        state.steps += 1;
        Ok(())
    }

    fn prepare_parameter(
        &mut self,
        index: usize,
        name: &Name<'_>,
        parameter: &Parameter<'_, T>,
    ) -> dahl::Result<()> {
        self.require_state(index, name, parameter)
    }

    fn bind<'b>(&'b mut self, bindings: &mut Bindings<'b>) -> bool {
        let Stateful { rule, has_master_weights, groups, parameters, .. } = self;
        // An optimizer that has not been prepared has no numbers yet: its settings are those of the recording.
        if !parameters.iter().any(Option::is_some) {
            let settings = |options: &Stateful<T, R>| (options.rule, options.has_master_weights);
            let groups: Vec<_> = groups.iter().map(|group| settings(&group.options)).collect();
            bindings.text(format_args!("{rule:?} {has_master_weights} {groups:?}"));
            return true;
        }
        for Tracked { state, group, slot, steps_when_bound } in parameters.iter_mut().flatten() {
            let rule = group.map_or(*rule, |group| groups[group].options.rule);
            *steps_when_bound = state.steps;
            *slot = bindings.slot(|numbers| rule.numbers(state.steps + 1, numbers));
            if slot.is_none() {
                bindings.text(format_args!("{rule:?} {}", state.steps));
            }
            // They say which of the rule's operations it is.
            state.array_names.iter().for_each(|name| bindings.text(format_args!("{name}")));
            state.arrays.iter_mut().for_each(|array| bindings.write_inside(array));
        }
        true
    }

    fn refused(&mut self) {
        for tracked in self.parameters.iter_mut().flatten() {
            tracked.state.steps = tracked.steps_when_bound;
        }
    }

    fn replayed(&mut self, slots: &Slots) {
        for tracked in self.parameters.iter_mut().flatten() {
            tracked.state.steps += u64::from(tracked.slot.is_none_or(|slot| slots.contains(slot)));
        }
    }

    fn states(&self) -> Vec<&ParameterState<T>> {
        self.parameters.iter().flatten().map(|tracked| &tracked.state).collect()
    }

    fn state_names(&self, parameter: &str) -> Vec<&'static str> {
        self.names_in(self.group_of(parameter)).collect()
    }

    fn set_states(&mut self, states: Vec<Option<ParameterState<T>>>) {
        let tracked = |state: ParameterState<T>| Tracked {
            group: self.group_of(&state.name),
            state,
            slot: None,
            steps_when_bound: 0,
        };
        self.parameters = states.into_iter().map(|state| state.map(tracked)).collect();
    }
}

impl<T: Real, R: UpdateRule> Stateful<T, R> {
    /// Makes what the optimizer keeps for each parameter of a model: a program that steps must not make it.
    ///
    /// # Errors
    /// If memory cannot be allocated.
    pub fn prepare(&mut self, model: &mut impl Module<T>) -> dahl::Result<()> {
        let mut index = 0;
        model.for_each_parameter(|name, parameter| {
            index += 1;
            if parameter.frozen { Ok(()) } else { self.require_state(index - 1, name, parameter) }
        })
    }
}

/// The arrays that it keeps may be changed. Its settings and steps are numbers of the call if the rule says which.
impl<T: Real, R: UpdateRule> ProgramArgument for &mut Stateful<T, R> {
    fn bind<'b>(&'b mut self, bindings: &mut Bindings<'b>) {
        Optimizer::bind(&mut **self, bindings);
    }

    fn name(&self, name: &str, names: &mut Vec<String>) {
        for state in self.states() {
            names.extend(state.array_names.iter().map(|array| format!("{name}.{}.{array}", state.name)));
        }
    }

    fn replayed(&mut self, slots: &Slots) {
        Optimizer::replayed(&mut **self, slots);
    }
}

impl<T: Real, R: fmt::Debug> fmt::Debug for Stateful<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let groups: Vec<&R> = self.groups.iter().map(|group| &group.options.rule).collect();
        f.debug_struct("Stateful").field("rule", &self.rule).field("groups", &groups).finish_non_exhaustive()
    }
}

/// Whether the number is at least 0 and finite in the compute type.
pub(super) fn is_factor<T: Real>(number: f64) -> bool {
    number >= 0.0 && T::Compute::from_f64(number).is_finite()
}
