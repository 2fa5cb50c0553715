//! [`OneHot`]: classes as vectors with a single one.

use dahl::prelude::*;

use super::Transform;
use crate::dataset::Random;
use crate::error::Error;
use crate::setting::Settings;

/// Replaces each feature, the number of a class, by a vector that is 1 at this number and 0 elsewhere: for columns of a
/// table, or characters of a text.
///
/// # Shapes
/// `[..]` becomes `[.., classes]`.
#[derive(Clone, Debug)]
pub struct OneHot {
    classes: usize,
    settings: Settings,
}

impl OneHot {
    /// Vectors of `classes` elements.
    #[track_caller]
    pub fn new(classes: usize) -> Self {
        let mut settings = Settings::default();
        settings.require(classes > 0, "OneHot: classes", classes, "a number from 1");
        Self { classes, settings }
    }
}

impl Transform for OneHot {
    fn shape(&self, shape: &[usize]) -> dahl::Result<Vec<usize>> {
        self.settings.check()?;
        Ok([shape, &[self.classes]].concat())
    }

    fn apply<T: Real>(&self, _: &[usize], features: &mut Vec<T>, _: &mut Random) -> dahl::Result<()> {
        let mut vectors = vec![T::ZERO; features.len() * self.classes];
        for (vector, feature) in vectors.chunks_exact_mut(self.classes).zip(features.iter()) {
            let class = feature.to_f64();
            // No class is negative, fractional or NaN: none of them is equal to its conversion.
            match vector.get_mut(class as usize).filter(|_| class as usize as f64 == class) {
                Some(element) => *element = T::ONE,
                None => {
                    let expected = format!("a class below {}", self.classes);
                    return Err(Error::Feature { transform: "OneHot", expected, found: class }.into());
                }
            }
        }
        *features = vectors;
        Ok(())
    }
}
