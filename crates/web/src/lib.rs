//! The lab as WebAssembly, nothing else: a request in JSON goes in, JSON and columns come out. A run goes on in slices, so
//! that whoever asked can change his mind.

mod abi;
mod answer;
mod lab;

pub use answer::Answer;
pub use lab::Lab;
