//! Kernels that call a library: what it is told, when its work runs, and what is done without it.

mod choice;
mod convolution;
mod convolutions;
mod lending;
mod loading;
mod product;
mod products;
