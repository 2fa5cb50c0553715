//! Tests of pipelines.

mod model;
mod optimum;
mod profile;
mod refused;
mod simulation;
mod vgg16;
