//! The lab as WebAssembly, nothing else: a request in JSON goes in, JSON and columns come out. Runs proceed in
//! slices, so that the caller can cancel them.

mod abi;
mod answer;
mod lab;

pub use answer::Answer;
pub use lab::Lab;
