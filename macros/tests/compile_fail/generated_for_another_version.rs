//! A crate that was generated for another version of the runtime is told so.

toolwright_core::generated_for!("0.9");

fn main() {}
