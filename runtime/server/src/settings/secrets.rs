//! Every secret among the settings, for whoever takes them out of texts.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use toolwright_core::ServerSpec;

use super::Settings;

impl Settings {
    /// Each secret text, and the forms in which it is sent.
    pub(crate) fn secrets(&self, server: &ServerSpec) -> Vec<String> {
        let plain = [&self.api_key, &self.auth_token, &self.langfuse_secret_key];
        let mut found: Vec<String> = plain.into_iter().flatten().map(|secret| secret.expose().to_owned()).collect();
        let keys = server.access.settings.iter().filter(|row| row.secret).map(|row| row.key);
        found.extend(keys.filter_map(|key| self.document.0.get(key)).map(|secret| secret.expose().to_owned()));
        if let Some((public, secret)) = self.langfuse_public_key.as_ref().zip(self.langfuse_secret_key.as_ref()) {
            found.push(STANDARD.encode(format!("{}:{}", public.0, secret.expose())));
        }
        for (_, value) in self.otlp_headers.iter().flat_map(|headers| headers.all()) {
            // What follows the scheme of an `Authorization` is the secret itself.
            found.extend(
                [Some(value), value.split_once(' ').map(|(_, rest)| rest)].into_iter().flatten().map(str::to_owned),
            );
        }
        found.extend(self.https_proxy.iter().filter_map(|url| password(url.expose())).map(str::to_owned));
        found
    }
}

/// The password in a URL.
fn password(url: &str) -> Option<&str> {
    let authority = url.split_once("://")?.1.split(['/', '?', '#']).next()?;
    let (credentials, _) = authority.rsplit_once('@')?;
    credentials.split_once(':').map(|(_, password)| password)
}

#[cfg(test)]
mod tests {
    use crate::settings::{Secret, SettingValue as _};
    use crate::testing::SERVER;

    #[test]
    fn secrets_are_found_in_each_form_that_is_sent() {
        let mut settings = crate::testing::settings(&tempfile::tempdir().unwrap());
        settings.api_key = Some(Secret::new("api"));
        settings.langfuse_public_key = Option::read("pk").unwrap();
        settings.langfuse_secret_key = Some(Secret::new("sk"));
        settings.otlp_headers = Option::read("authorization=Basic%20b64").unwrap();
        settings.https_proxy = Option::read("http://user:pass@proxy:3128").unwrap();
        assert_eq!(settings.secrets(&SERVER), ["api", "sk", "cGs6c2s=", "Basic b64", "b64", "pass"]);
    }
}
