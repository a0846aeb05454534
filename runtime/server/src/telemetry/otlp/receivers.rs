//! Who receives traces and metrics, from the settings.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use toolwright_http::Url;

use crate::settings::Settings;

/// The name of the collector that `OTEL_EXPORTER_OTLP_ENDPOINT` names.
pub(super) const COLLECTOR: &str = "otlp";

/// The name of Langfuse.
pub(super) const LANGFUSE: &str = "langfuse";

/// The one protocol of OTLP that is spoken here.
const PROTOCOL: &str = "http/protobuf";

/// Where to send to.
#[derive(Debug, Clone)]
pub(super) struct Receiver {
    pub(super) name: &'static str,
    /// What the paths of the signals are added to.
    pub(super) base: Url,
    /// Credentials among them.
    pub(super) headers: HeaderMap,
    /// Whether arguments and results go there too.
    pub(super) takes_payloads: bool,
    pub(super) takes_metrics: bool,
}

impl Receiver {
    /// The address of a signal or a check.
    pub(super) fn url(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        url.set_path(&format!("{}{path}", self.base.path().trim_end_matches('/')));
        url
    }

    /// What may be shown of where it is.
    pub(super) fn origin(&self) -> String {
        self.base.origin().ascii_serialization()
    }
}

/// Whether a receiver can be used.
#[derive(Debug)]
pub(super) enum State {
    Disabled,
    Ready(Receiver),
    /// Configured in a way that cannot work: why, and what to do.
    Faulty(String),
}

/// Every receiver that can be configured.
pub(super) fn all(settings: &Settings) -> [(&'static str, State); 2] {
    let found = |state: Result<Option<Receiver>, String>| match state {
        Ok(None) => State::Disabled,
        Ok(Some(receiver)) => State::Ready(receiver),
        Err(reason) => State::Faulty(reason),
    };
    [(COLLECTOR, found(collector(settings))), (LANGFUSE, found(langfuse(settings)))]
}

fn collector(settings: &Settings) -> Result<Option<Receiver>, String> {
    let Some(endpoint) = settings.otlp_endpoint.as_ref().filter(|url| !url.as_str().is_empty()) else {
        return Ok(None);
    };
    let protocol = &settings.otlp_protocol.0;
    if protocol != PROTOCOL {
        return Err(format!(
            "OTEL_EXPORTER_OTLP_PROTOCOL is `{protocol}`, and this server speaks {PROTOCOL} alone; set it to that, and the \
             endpoint to the collector's HTTP port, which usually is 4318"
        ));
    }
    let mut headers = HeaderMap::new();
    for (name, value) in settings.otlp_headers.iter().flat_map(|pairs| pairs.all()) {
        let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name.as_bytes()), sensitive(value)) else { continue };
        headers.append(name, value);
    }
    Ok(Some(Receiver {
        name: COLLECTOR,
        base: url(endpoint.as_str()).ok_or("OTEL_EXPORTER_OTLP_ENDPOINT is no http or https URL")?,
        headers,
        takes_payloads: false,
        takes_metrics: settings.otlp_metrics.0,
    }))
}

fn langfuse(settings: &Settings) -> Result<Option<Receiver>, String> {
    if !settings.langfuse_enabled {
        return Ok(None);
    }
    let (base, public) = (&settings.langfuse_base_url, &settings.langfuse_public_key);
    let (Some(base), Some(public), Some(secret)) = (base, public, &settings.langfuse_secret_key) else {
        let given = [
            ("LANGFUSE_BASE_URL", base.is_some()),
            ("LANGFUSE_PUBLIC_KEY", public.is_some()),
            ("LANGFUSE_SECRET_KEY", settings.langfuse_secret_key.is_some()),
        ];
        let missing: Vec<&str> = given.iter().filter(|(_, is_given)| !is_given).map(|(name, _)| *name).collect();
        return Err(format!("TOOLWRIGHT_LANGFUSE_ENABLED is on, and not set: {}", missing.join(", ")));
    };
    let base = url(&base.0).ok_or(
        "LANGFUSE_BASE_URL must be an http or https URL without credentials and query, such as https://cloud.langfuse.com",
    )?;
    let pair = STANDARD.encode(format!("{}:{}", public.0, secret.expose()));
    let authorization = sensitive(&format!("Basic {pair}")).map_err(|error| error.to_string())?;
    Ok(Some(Receiver {
        name: LANGFUSE,
        base,
        headers: HeaderMap::from_iter([(header::AUTHORIZATION, authorization)]),
        takes_payloads: settings.langfuse_capture_payloads,
        takes_metrics: false,
    }))
}

fn sensitive(text: &str) -> Result<HeaderValue, axum::http::header::InvalidHeaderValue> {
    let mut value = HeaderValue::from_str(text)?;
    value.set_sensitive(true);
    Ok(value)
}

/// A URL that credentials are sent to in headers alone.
fn url(text: &str) -> Option<Url> {
    let url = Url::parse(text).ok()?;
    let fits = matches!(url.scheme(), "http" | "https")
        && url.has_host()
        && url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none();
    fits.then_some(url)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{Secret, SettingValue as _, Text};

    fn settings() -> Settings {
        let state = tempfile::tempdir().unwrap();
        let mut settings = crate::testing::settings(&state);
        settings.langfuse_enabled = true;
        settings.langfuse_public_key = Option::read("pk").unwrap();
        settings.langfuse_secret_key = Some(Secret::new("sk"));
        settings
    }

    #[test]
    fn langfuse_is_named_what_it_lacks() {
        let error = langfuse(&settings()).unwrap_err();
        assert_eq!(error, "TOOLWRIGHT_LANGFUSE_ENABLED is on, and not set: LANGFUSE_BASE_URL");
    }

    #[test]
    fn langfuse_gets_its_keys_as_basic_authentication() {
        let mut settings = settings();
        settings.langfuse_base_url = Option::read("https://langfuse.example/own/").unwrap();
        let receiver = langfuse(&settings).unwrap().unwrap();
        assert_eq!(
            receiver.url("/api/public/otel/v1/traces").as_str(),
            "https://langfuse.example/own/api/public/otel/v1/traces"
        );
        assert_eq!(receiver.headers[header::AUTHORIZATION], "Basic cGs6c2s=");
        assert_eq!(receiver.origin(), "https://langfuse.example");
        assert!(!receiver.takes_payloads);
    }

    #[test]
    fn a_langfuse_address_that_cannot_work_is_refused_without_being_shown() {
        for text in ["langfuse.example", "ftp://h", "https://user:s3cr3t@h", "https://h/?key=s3cr3t"] {
            let mut settings = settings();
            settings.langfuse_base_url = Option::read(text).unwrap();
            let error = langfuse(&settings).unwrap_err();
            assert!(error.contains("LANGFUSE_BASE_URL must be") && !error.contains("s3cr3t"), "{error}");
        }
    }

    #[test]
    fn a_collector_that_speaks_grpc_is_not_sent_what_it_cannot_read() {
        let mut settings = settings();
        assert!(collector(&settings).unwrap().is_none());
        settings.otlp_endpoint = Option::read("http://127.0.0.1:4317").unwrap();
        settings.otlp_protocol = Text("grpc".to_owned());
        assert!(collector(&settings).unwrap_err().contains("4318"));
    }
}
