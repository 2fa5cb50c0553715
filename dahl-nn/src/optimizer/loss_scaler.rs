//! [`LossScaler`]: a factor of the loss, for gradients in half precision.

use dahl::ndarray::ArrayViewMut0;
use dahl::ops;
use dahl::prelude::*;

use super::Optimizer;
use crate::module::Module;
use crate::setting::Settings;
use crate::step::Step;

/// Multiplies the loss by a factor, so that small gradients do not become 0 in half precision, and divides the gradients by
/// it before a step. A step whose gradients are not all finite is skipped, and the factor falls; after many steps it grows.
/// These are the rules and defaults of PyTorch's `GradScaler` (Micikevicius et al. 2018,
/// [arXiv:1710.03740](https://arxiv.org/abs/1710.03740)).
///
/// An invalid setting is returned as an error by the next call that can fail, with the line that set it. A
/// [`Trainer`](crate::Trainer) takes a scaler by [`loss_scaler`](crate::Trainer::loss_scaler).
///
/// ```
/// use dahl::ops::mean_squared_error_init;
/// use dahl::prelude::*;
/// use dahl_nn::prelude::*;
///
/// # fn main() -> dahl::Result<()> {
/// let rt = Runtime::new()?;
/// let arena = rt.arena();
/// let mut layer = Linear::<f16>::new(&mut Init::new(&arena, 1), 1, 1)?;
/// let x = rt.from_vec([2, 1], [-1.0, 1.0].map(f16::from_f64).to_vec())?;
/// let y = rt.from_vec([2, 1], [-2.0, 2.0].map(f16::from_f64).to_vec())?;
/// let (mut optimizer, mut scaler) = (AdamW::new(0.1), LossScaler::new());
/// for _ in 0..20 {
///     layer.learn(&rt, |step, layer| {
///         let loss = mean_squared_error_init(step, &layer.forward(step, &x)?, &y, 0.5)?;
///         scaler.scaled(step, &loss)
///     })?;
///     let was_taken = scaler.step(&mut optimizer, &mut layer)?;
///     println!("{}", if was_taken { "a step" } else { "skipped: an infinite gradient" });
/// }
/// assert!(scaler.skipped_steps() < 20);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct LossScaler {
    scale: f64,
    growth_factor: f64,
    backoff_factor: f64,
    growth_interval: u64,
    /// Steps since the factor changed.
    steps: u64,
    skipped: u64,
    /// Whether a gradient is not finite: 1, else 0. There while the gradients are unscaled and no step was taken.
    found: Option<Scalar<'static, u32>>,
    is_unscaled: bool,
    settings: Settings,
}

/// What the next steps of a scaler depend on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScalerState {
    pub(crate) scale: f64,
    /// Steps since the factor changed.
    pub(crate) steps: u64,
    pub(crate) skipped: u64,
}

impl Default for LossScaler {
    fn default() -> Self {
        Self::new()
    }
}

impl LossScaler {
    /// With the factor 65536 at first; in f16, where that is no finite number, the first step is skipped, as in PyTorch. It is doubled after 2000 steps without an infinite gradient, and halved after one.
    pub fn new() -> Self {
        Self {
            scale: 65536.0,
            growth_factor: 2.0,
            backoff_factor: 0.5,
            growth_interval: 2000,
            steps: 0,
            skipped: 0,
            found: None,
            is_unscaled: false,
            settings: Settings::default(),
        }
    }

    /// Sets the factor of the loss: finite, above 0.
    #[track_caller]
    pub fn initial_scale(mut self, scale: f64) -> Self {
        let is_factor = scale > 0.0 && scale.is_finite();
        self.settings.require(is_factor, "LossScaler: initial_scale", scale, "a finite number above 0");
        self.scale = scale;
        self
    }

    /// Sets by what the factor is multiplied when it grows: finite, above 1.
    #[track_caller]
    pub fn growth_factor(mut self, factor: f64) -> Self {
        let grows = factor > 1.0 && factor.is_finite();
        self.settings.require(grows, "LossScaler: growth_factor", factor, "a finite number above 1");
        self.growth_factor = factor;
        self
    }

    /// Sets by what the factor is multiplied after a step that was skipped: above 0, below 1.
    #[track_caller]
    pub fn backoff_factor(mut self, factor: f64) -> Self {
        let falls = factor > 0.0 && factor < 1.0;
        self.settings.require(falls, "LossScaler: backoff_factor", factor, "a number above 0, below 1");
        self.backoff_factor = factor;
        self
    }

    /// Sets after how many steps in a row without an infinite gradient the factor grows: at least 1.
    #[track_caller]
    pub fn growth_interval(mut self, steps: u64) -> Self {
        self.settings.require(steps > 0, "LossScaler: growth_interval", steps, "a number from 1");
        self.growth_interval = steps;
        self
    }

    /// The error of the first invalid setting.
    pub(crate) fn check_settings(&self) -> dahl::Result<()> {
        Ok(self.settings.check()?)
    }

    /// What the next steps depend on, for a checkpoint.
    pub(crate) fn state(&self) -> ScalerState {
        ScalerState { scale: self.scale, steps: self.steps, skipped: self.skipped }
    }

    /// Goes on from a checkpoint.
    pub(crate) fn set_state(&mut self, state: ScalerState) {
        (self.scale, self.steps, self.skipped) = (state.scale, state.steps, state.skipped);
    }

    /// The factor of the loss.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// How many steps were skipped so far.
    pub fn skipped_steps(&self) -> u64 {
        self.skipped
    }

    /// The loss times the factor: what a step of learning returns in place of the loss, so that `learn` returns it scaled.
    ///
    /// # Errors
    /// The first invalid setting, and those of the task.
    pub fn scaled<'s, T: Real>(
        &self,
        step: &'s Step<'_>,
        loss: &Scalar<'_, T>,
    ) -> dahl::Result<Scalar<'s, T>> {
        self.settings.check()?;
        ops::scale_init(step, loss, T::from_f64(self.scale))
    }

    /// Divides the gradients by the factor. [`step`](Self::step) does so if it was not done before, to clip them, for
    /// example. Waits for nothing.
    ///
    /// # Errors
    /// The first invalid setting, and those of the tasks.
    pub fn unscale<T: Real>(&mut self, model: &mut impl Module<T>) -> dahl::Result<()> {
        self.settings.check()?;
        if self.is_unscaled {
            return Ok(());
        }
        let (found, inverse) = (&mut self.found, 1.0 / self.scale);
        model.for_each_parameter(|_, parameter| {
            if parameter.frozen {
                return Ok(());
            }
            if found.is_none() {
                *found = Some(parameter.gradient.zeros_of([])?);
            }
            let Some(found) = found else { return Ok(()) };
            unscale(&mut parameter.gradient, found, inverse)
        })?;
        self.is_unscaled = true;
        Ok(())
    }

    /// Divides the gradients by the factor, updates the parameters if all gradients are finite, and changes the factor.
    /// Returns whether the parameters were updated. Waits for the gradients.
    ///
    /// # Errors
    /// The first invalid setting, and those of the tasks.
    pub fn step<T: Real>(
        &mut self,
        optimizer: &mut impl Optimizer<T>,
        model: &mut impl Module<T>,
    ) -> dahl::Result<bool> {
        optimizer.check_settings()?;
        self.unscale(model)?;
        self.is_unscaled = false;
        let is_infinite = match self.found.take() {
            Some(found) => found.read()?[[]] != 0,
            None => false,
        };
        if is_infinite {
            self.scale *= self.backoff_factor;
            self.steps = 0;
            self.skipped += 1;
            return Ok(false);
        }
        optimizer.step(model)?;
        self.steps += 1;
        if self.steps == self.growth_interval {
            let grown = self.scale * self.growth_factor;
            // PyTorch's factor is a number in f32.
            if (grown as f32).is_finite() {
                self.scale = grown;
            }
            self.steps = 0;
        }
        Ok(true)
    }
}

/// `gradient *= inverse`, and 1 into `found` if an element was not finite.
///
/// # Shapes
/// `gradient: [elements]`, `found: []`.
#[codelet(RW, REDUX(max), shape(found = []), flops = 2 * gradient.len(), cuda = crate::kernels::UNSCALE)]
pub fn unscale<T: Real>(gradient: &mut [T], mut found: ArrayViewMut0<u32>, inverse: f64) {
    let inverse = T::Compute::from_f64(inverse);
    let mut all_are_finite = true;
    for gradient in gradient {
        let wide = gradient.widen();
        all_are_finite &= wide.is_finite();
        *gradient = T::narrow(wide * inverse);
    }
    if !all_are_finite {
        found[[]] = 1;
    }
}
