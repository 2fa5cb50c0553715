//! Kernels that call a library: the requests, when its work runs, and the fallback without it.

mod choice;
mod convolution;
mod convolutions;
mod lending;
mod loading;
mod product;
mod products;
