//! Headers: known bytes, and any bytes.

mod any_bytes;
mod vectors;
