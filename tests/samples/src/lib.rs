//! Samples of a JSON Schema, for tests: valid arguments in a minimal and a full form, and arguments with one fault each.
//!
//! [`assert_agreement`] proves that a tool's struct and its schema describe the same JSON.
#![allow(clippy::panic)] // A test library reports by panicking.

mod fault;
mod profile;
mod sample;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use toolwright_core::{Tool, ToolSpec, arguments::Checker};

pub use fault::{Fault, faults};
pub use profile::profile_faults;
pub use sample::Extent;

/// How many forms of unions are tried.
const FORMS: usize = 6;

/// Valid arguments of a tool: the first form of every union, or a later one where the schema does not take that.
#[must_use]
pub fn arguments(spec: &ToolSpec, extent: Extent) -> Map<String, Value> {
    let schema = schema(spec);
    let first = sample::arguments(&schema, extent);
    let Ok(checker) = Checker::new(spec) else { return first };
    let mut forms = (0..FORMS).map(|form| sample::arguments_of_form(&schema, extent, form));
    forms.find(|sample| checker.check(sample.clone()).is_ok()).unwrap_or(first)
}

/// The tool's input schema.
#[must_use]
pub fn schema(spec: &ToolSpec) -> Value {
    match serde_json::from_str(spec.input_schema) {
        Ok(schema) => schema,
        Err(error) => panic!("{}: the input schema is not JSON: {error}", spec.name),
    }
}

/// Fails unless samples of the schema go through the struct unchanged, the schema accepts them, and each faulty one is
/// refused by the schema.
///
/// # Panics
/// With the tool's name and what differs.
pub fn assert_agreement<T: Tool + DeserializeOwned>() {
    let name = T::SPEC.name;
    let checker = match Checker::new(&T::SPEC) {
        Ok(checker) => checker,
        Err(error) => panic!("{name}: {error}"),
    };
    for extent in [Extent::Minimal, Extent::Full] {
        let sample = arguments(&T::SPEC, extent);
        match checker.check(sample.clone()) {
            Ok(accepted) => assert!(accepted.warnings.is_empty(), "{name}: {:?}", accepted.warnings),
            Err(refusal) => panic!("{name}: the schema refuses its own {extent:?} sample: {refusal:?}"),
        }
        let tool: T = match serde_json::from_value(Value::Object(sample.clone())) {
            Ok(tool) => tool,
            Err(error) => panic!("{name}: the struct refuses the {extent:?} sample {sample:?}: {error}"),
        };
        match tool.arguments() {
            Ok(back) => assert_eq!(
                Value::Object(back),
                Value::Object(sample),
                "{name}: the {extent:?} sample came back changed"
            ),
            Err(error) => panic!("{name}: {error}"),
        }
    }
    for Fault { what, arguments } in faults(&schema(&T::SPEC)) {
        assert!(checker.check(arguments).is_err(), "{name}: the schema accepts arguments with a fault: {what}");
    }
}
