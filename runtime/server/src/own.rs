//! Results that this server makes itself: of the shape that they declare, and without secrets.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use tokio::time::Instant;
use toolwright_core::{Catalog, Envelope, OutputSchema, Payload, ServerSpec, ToolSpec};
use toolwright_http::CallContext;

use crate::settings::{SecretSources, Settings};

/// What results of the server's own are held against.
pub(crate) struct OwnResults {
    /// The declared outputs, each compiled by the first call that has one.
    outputs: BTreeMap<&'static str, OnceLock<Option<OutputSchema>>>,
    /// Values that no result may hold.
    secrets: Vec<String>,
    /// Gives out further ones.
    sources: Arc<SecretSources>,
    reveal_secrets: bool,
}

impl OwnResults {
    pub(crate) fn new(server: &ServerSpec, catalog: &'static Catalog, settings: &Settings) -> Self {
        let is_secret = |key: &str| server.access.settings.iter().any(|row| row.secret && row.key == key);
        let values = settings.document.0.iter().filter(|(key, _)| is_secret(key));
        let secrets = values.map(|(_, value)| value).chain(settings.api_key.as_ref());
        let declares = |row: &&ToolSpec| row.binding.is_own() && row.result_schema.is_some();
        OwnResults {
            outputs: catalog.tools().iter().filter(declares).map(|row| (row.name, OnceLock::new())).collect(),
            secrets: secrets.map(|secret| secret.expose().to_owned()).collect(),
            sources: Arc::clone(&settings.secret_sources),
            reveal_secrets: settings.reveal_secrets.0,
        }
    }

    /// The result of a call that began then. One of another shape than declared is a failure.
    pub(crate) fn finish(&self, row: &ToolSpec, started: Instant, mut envelope: Envelope) -> Envelope {
        let checked = match (&envelope.payload, self.output_schema(row)) {
            (Payload::Data(data), Some(schema)) if envelope.ok => schema.check(data),
            _ => Ok(()),
        };
        if let Err(error) = checked {
            envelope = Envelope::failure(error);
        }
        toolwright_http::mask_result(&mut envelope, row.secrets, self.reveal_secrets, self.secrets());
        envelope.elapsed_ms = started.elapsed().as_secs_f64() * 1000.0;
        envelope
    }

    /// Hides secrets in arguments that a person is to see, by name and by value.
    pub(crate) fn hide_secrets(&self, arguments: &mut serde_json::Value) {
        toolwright_http::mask_arguments(arguments, self.secrets());
    }

    /// The same call, whose progress shows no secret: what tells of it knows the settings.
    pub(crate) fn discreet(&self, context: &CallContext) -> CallContext {
        CallContext { progress: context.progress.without(self.secrets()), ..context.clone() }
    }

    fn secrets(&self) -> Vec<String> {
        let given = self.sources.given().into_iter().map(|secret| secret.expose().trim().to_owned());
        self.secrets.iter().cloned().chain(given).collect()
    }

    fn output_schema(&self, row: &ToolSpec) -> Option<&OutputSchema> {
        let compile = || row.result_schema.and_then(OutputSchema::new);
        self.outputs.get(row.name)?.get_or_init(compile).as_ref()
    }
}
