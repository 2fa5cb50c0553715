//! Data sets: what they contain, invalid files, views, transforms and loading.

mod fashion_mnist;
mod token_windows;

/// Asserts that a text has all these parts.
fn assert_parts(text: &str, parts: &[&str]) {
    assert!(parts.iter().all(|part| text.contains(part)), "{text}");
}
