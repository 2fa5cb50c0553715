//! Data sets: what they contain, invalid files, parts, transforms and loading.

mod fashion_mnist;
mod files;
#[cfg(feature = "images")]
mod image_folder;
mod loading;
mod parts;
mod token_windows;
mod transforms;

use dahl_nn::Dataset;

/// Asserts that a text has all these parts.
fn assert_parts(text: &str, parts: &[&str]) {
    assert!(parts.iter().all(|part| text.contains(part)), "{text}");
}

/// The features of a sample.
fn sample(data: &impl Dataset, index: usize) -> Vec<f64> {
    let mut features = vec![0.0; data.sample_shape().iter().product()];
    data.copy_sample(index, &mut features);
    features
}
