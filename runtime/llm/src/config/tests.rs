use serde_json::{Value, json};

use super::*;
use crate::{Dialect, Effort, Provider, Temperature};

fn gateway(mut more: Value) -> Value {
    more["backend"] = json!("openai_compatible");
    more["base_url"] = json!("http://127.0.0.1:8080/v1");
    more
}

fn faults(table: Value) -> String {
    LlmConfig::from_value(&table).unwrap_err().to_string()
}

#[test]
fn defaults_hold_where_nothing_is_said() {
    let config = LlmConfig::from_value(&gateway(json!({}))).unwrap();
    assert_eq!(config.verify, Verify::Public);
    assert_eq!(config.keepalive_expiry, Duration::from_secs(5));
    assert_eq!(config.response_timeout, Duration::from_secs(300));
    assert!(config.stream_usage);
}

#[test]
fn the_backend_is_required_and_one_of_two() {
    assert_eq!(faults(json!({})), "llm.backend: is missing: write \"openai_compatible\" or \"native\"");
    assert_eq!(faults(json!({"backend": 5})), "llm.backend: must be a string, and is 5");
    assert_eq!(
        faults(json!({"backend": "azure"})),
        "llm.backend: unsupported value \"azure\": it must be one of openai_compatible, native"
    );
}

#[test]
fn the_address_belongs_to_the_gateway_alone() {
    assert_eq!(
        faults(json!({"backend": "openai_compatible"})),
        "llm.base_url: is missing: the backend \"openai_compatible\" needs the gateway's address"
    );
    assert_eq!(
        faults(json!({"backend": "native", "base_url": "http://h"})),
        "llm.base_url: is not accepted with the backend \"native\": every provider has its own address"
    );
    let not_a_text = json!({"backend": "openai_compatible", "base_url": true});
    assert_eq!(faults(not_a_text), "llm.base_url: must be a string, and is true");
}

#[test]
fn unknown_fields_are_listed_in_order() {
    assert!(faults(gateway(json!({"zeta": 1, "alpha": 2}))).starts_with("llm: unsupported fields: alpha, zeta; "));
    let model = faults(gateway(json!({"models": {"m": {"size": 1}}})));
    assert!(model.starts_with("llm.models.\"m\": unsupported fields: size; "), "{model}");
}

#[test]
fn numbers_are_numbers_and_in_their_range() {
    let fault = |name: &str, value: Value| faults(gateway(json!({name: value})));
    assert_eq!(
        fault("keepalive_expiry", json!(true)),
        "llm.keepalive_expiry: must be a number of seconds, and is true"
    );
    assert_eq!(fault("keepalive_expiry", json!(-1)), "llm.keepalive_expiry: must not be negative, and is -1");
    assert_eq!(
        fault("response_timeout", json!(0)),
        "llm.response_timeout: must be a finite number of seconds above 0, and is 0"
    );
    assert_eq!(fault("stream_usage", json!("no")), "llm.stream_usage: must be true or false, and is a string");
    assert!(LlmConfig::from_value(&gateway(json!({"keepalive_expiry": 0}))).is_ok());
}

#[test]
fn values_of_headers_are_neither_shown_nor_repeated_in_faults() {
    let config = LlmConfig::from_value(&gateway(json!({"default_headers": {"x-team": "hush"}}))).unwrap();
    assert!(!format!("{config:?}").contains("hush"));
    let fault = faults(gateway(json!({"default_headers": {"x-team": "hush\n"}})));
    assert!(fault.starts_with("llm.default_headers.x-team: ") && !fault.contains("hush"), "{fault}");
    assert_eq!(faults(gateway(json!({"default_headers": 5}))), "llm.default_headers: must be a table of strings");
}

#[test]
fn a_text_in_the_wrong_field_is_not_repeated_unless_it_is_a_word() {
    let key = "sk-5309";
    for table in [
        gateway(json!({"response_timeout": key})),
        gateway(json!({"stream_usage": key})),
        gateway(json!({"models": key})),
        gateway(json!({"models": {"m": key}})),
        gateway(json!({"models": {"m": {"dialect": key, "max_output_tokens": key}}})),
        json!({"backend": key}),
        json!({"backend": "openai_compatible", "base_url": key}),
        json!({"backend": "openai_compatible", "base_url": format!("{key}:x")}),
        json!(key),
    ] {
        let told = faults(table);
        assert!(!told.contains(key) && told.contains(": "), "{told}");
    }
    let told = faults(json!({"backend": key}));
    assert!(told.starts_with("llm.backend: unsupported value (a string of 7 characters): it must be one of"), "{told}");
    assert_eq!(
        faults(gateway(json!({"verify": " "}))),
        "llm.verify: must be true, false, or the path of a PEM file, and is an empty string"
    );
}

#[test]
fn certificates_are_checked_or_not_or_against_a_file() {
    let verify = |value: Value| LlmConfig::from_value(&gateway(json!({"verify": value}))).map(|config| config.verify);
    assert_eq!(verify(json!(false)), Ok(Verify::Nothing));
    assert_eq!(verify(json!("ca.pem")), Ok(Verify::Authorities("ca.pem".into())));
    assert!(verify(json!(1)).is_err());
}

#[test]
fn a_model_changes_only_in_what_is_named() {
    let table = json!({"models": {"claude-opus-5": {"max_output_tokens": 1000, "dialect": "openai"}}});
    let spec = LlmConfig::from_value(&gateway(table)).unwrap().spec("claude-opus-5");
    assert_eq!(spec.max_output_tokens.map(|tokens| tokens.get()), Some(1000));
    assert_eq!(spec.adapter_dialect(), Dialect::OpenAi);
    assert_eq!((spec.temperature, spec.native_provider), (Temperature::Zero, Some(Provider::Anthropic)));
}

#[test]
fn a_default_effort_needs_a_model_that_takes_one() {
    let table = json!({"models": {"m": {"default_reasoning_effort": "low", "supports_reasoning_effort": false}}});
    assert_eq!(
        faults(gateway(table)),
        "llm.models.\"m\".default_reasoning_effort: needs supports_reasoning_effort = true: this model takes no effort"
    );
    let table = json!({"models": {"m": {"default_reasoning_effort": "low"}}});
    let spec = LlmConfig::from_value(&gateway(table)).unwrap().spec("m");
    assert_eq!(spec.default_reasoning_effort, Some(Effort::Low));
}

#[test]
fn a_model_of_ollama_can_be_constrained() {
    let table = json!({"models": {"claude-local": {"dialect": "ollama"}, "b": {"dialect": "ollama", "constrained_output": false}}});
    let config = LlmConfig::from_value(&gateway(table)).unwrap();
    assert!(config.spec("claude-local").constrained_output);
    assert!(!config.spec("b").constrained_output);
}

#[test]
fn all_faults_are_told_at_once() {
    let table = json!({"backend": 1, "verify": 1, "models": {"m": {"temperature": "hot"}}});
    assert_eq!(LlmConfig::from_value(&table).unwrap_err().0.len(), 3);
}
