use std::sync::Mutex;

use serde_json::{Value, json};

use super::*;
use crate::{
    NoSecrets, SecretFault,
    testing::{Dialled, Key, Scripted},
};

fn models(settings: Value, secrets: Arc<dyn Secrets>, upstream: &Arc<Scripted>) -> Models {
    Models::new(LlmConfig::from_value(&settings).unwrap(), secrets).with_connect(Arc::new(Dialled(upstream.clone())))
}

fn native() -> Value {
    json!({"backend": "native"})
}

fn gateway() -> Value {
    json!({"backend": "openai_compatible", "base_url": "http://gateway.test"})
}

/// Writes down what it is asked for.
#[derive(Default)]
struct Asked(Mutex<Vec<String>>);

impl Secrets for Asked {
    fn get(&self, name: &str) -> Result<Option<Secret>, SecretFault> {
        self.0.lock().unwrap().push(name.to_owned());
        Ok(Some(Secret::new("k")))
    }

    fn place(&self, name: &str) -> String {
        format!("the place of {name}")
    }
}

#[test]
fn a_model_of_the_gateway_alone_is_not_to_be_had_natively_and_nothing_is_connected() {
    let upstream = Scripted::streaming([]);
    let error = models(native(), Arc::new(Key("k")), &upstream).model("grok-4.6").unwrap_err();
    assert_eq!(error, ModelError::GatewayOnly { model: "grok-4.6".into() });
    assert!(error.to_string().contains("\"grok-4.6\""));
    assert!(upstream.origins().is_empty());
}

#[test]
fn a_provider_needs_its_key_and_nothing_is_connected_without_it() {
    let upstream = Scripted::streaming([]);
    let error = models(native(), Arc::new(NoSecrets), &upstream).model("gpt-5.6").unwrap_err();
    assert_eq!(error, ModelError::KeyMissing { model: "gpt-5.6".into(), secret: "openai_api_key" });
    let blank = models(native(), Arc::new(Key("  ")), &upstream).validate("claude-opus-5").unwrap_err();
    assert_eq!(blank, ModelError::KeyMissing { model: "claude-opus-5".into(), secret: "anthropic_api_key" });
    assert!(upstream.origins().is_empty());
}

#[test]
fn a_gateway_and_an_ollama_may_want_no_key() {
    let upstream = Scripted::streaming([]);
    assert!(models(gateway(), Arc::new(NoSecrets), &upstream).model("qwen3").is_ok());
    let ollama = json!({"backend": "native", "models": {"qwen3": {"native_provider": "ollama"}}});
    assert!(models(ollama, Arc::new(NoSecrets), &upstream).model("qwen3").is_ok());
}

#[test]
fn secrets_are_asked_for_when_a_model_is_made() {
    let upstream = Scripted::streaming([]);
    let secrets = Arc::new(Asked::default());
    let models = models(gateway(), secrets.clone(), &upstream);
    assert!(secrets.0.lock().unwrap().is_empty());
    models.model("qwen3").unwrap();
    assert_eq!(*secrets.0.lock().unwrap(), ["llm_api_key"]);
}

#[test]
fn a_model_is_made_without_a_word_to_the_upstream() {
    let upstream = Scripted::streaming([]);
    let model = models(gateway(), Arc::new(Key("k")), &upstream).model("qwen3").unwrap();
    assert_eq!((upstream.origins().len(), upstream.asked().len()), (1, 0));
    // The factory is gone already: one is ours, one is the model's.
    assert_eq!(Arc::strong_count(&upstream), 2);
    drop(model);
    assert_eq!(Arc::strong_count(&upstream), 1, "the last handle closes the connections");
}

#[test]
fn a_key_that_cannot_be_sent_is_named_and_not_shown() {
    let upstream = Scripted::streaming([]);
    let error = models(gateway(), Arc::new(Key("hush\n")), &upstream).model("qwen3").unwrap_err();
    assert_eq!(error, ModelError::HeaderInvalid { model: "qwen3".into(), name: "llm_api_key".into() });
}

#[test]
fn neither_models_nor_a_model_show_a_secret() {
    let upstream = Scripted::streaming([]);
    let mut settings = gateway();
    settings["default_headers"] = json!({"x-team": "hush-1"});
    let models = models(settings, Arc::new(Key("hush-2")), &upstream);
    let shown = format!("{models:?} {:?}", models.model("qwen3").unwrap());
    assert!(!shown.contains("hush"), "{shown}");
}

#[test]
fn natively_every_model_is_at_its_own_provider() {
    let upstream = Scripted::streaming([]);
    let mut settings = native();
    settings["models"] = json!({"qwen3": {"native_provider": "ollama"}});
    let models = models(settings, Arc::new(Key("k")), &upstream);
    for id in ["gpt-5.6", "claude-opus-5", "qwen3"] {
        models.model(id).unwrap();
    }
    let origins = ["https://api.openai.com/v1", "https://api.anthropic.com/", "http://127.0.0.1:11434/"];
    assert_eq!(upstream.origins(), origins);
}

#[test]
fn a_file_of_authorities_that_is_not_there_is_named() {
    let mut settings = gateway();
    settings["verify"] = json!("/nowhere/ca.pem");
    let models = Models::new(LlmConfig::from_value(&settings).unwrap(), Arc::new(NoSecrets));
    let error = models.model("qwen3").unwrap_err().to_string();
    assert!(error.contains("/nowhere/ca.pem"), "{error}");
}
