//! Profiles from files: PipeDream's text, or JSON.

use std::fs;
use std::path::Path;

use dahl_plan::pipeline::{Layer, Profile};
use serde::Deserialize;

use crate::trouble::Trouble;

/// A profile as JSON.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Json {
    layers: Vec<JsonLayer>,
    /// Pairs of a layer and one that reads its output.
    edges: Vec<(usize, usize)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JsonLayer {
    name: String,
    forward_ms: f64,
    backward_ms: f64,
    activation_bytes: f64,
    parameter_bytes: f64,
}

/// Reads a profile: JSON if it begins with `{`, else PipeDream's text.
pub(super) fn read(file: &Path) -> Result<Profile, Trouble> {
    let wrong = |fact: String| Trouble::Input(format!("{}: {fact}", file.display()));
    let text = fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
    if !text.trim_start().starts_with('{') {
        return Profile::parse(&text).map_err(|error| wrong(error.to_string()));
    }
    let Json { layers, edges } = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    let layer = |layer: JsonLayer| Layer {
        name: layer.name,
        forward_seconds: layer.forward_ms / 1e3,
        backward_seconds: layer.backward_ms / 1e3,
        activation_bytes: layer.activation_bytes,
        parameter_bytes: layer.parameter_bytes,
    };
    Ok(Profile { layers: layers.into_iter().map(layer).collect(), edges }.sorted())
}
