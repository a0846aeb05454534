//! The types of settings: each parses its textual form and says what it accepts.

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::time::Duration;

use toolwright_core::Profile;
pub use toolwright_core::Secret;

/// What a type of setting accepts, for help and documentation.
#[derive(Debug)]
pub(crate) struct Kind {
    /// Placeholder in `--help`, such as `SECONDS`.
    pub(crate) placeholder: &'static str,
    /// Form in the example file.
    pub(crate) toml: TomlForm,
    /// True where the value is never shown.
    pub(crate) secret: bool,
    /// True where an empty text is a value of its own rather than nothing.
    pub(crate) empty_counts: bool,
}

/// How a value is written in TOML.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TomlForm {
    Text,
    Number,
    Boolean,
    List,
}

pub(super) const fn kind(placeholder: &'static str, toml: TomlForm) -> Kind {
    Kind { placeholder, toml, secret: false, empty_counts: false }
}

/// A type of setting.
pub(crate) trait SettingValue: Sized {
    const KIND: Kind;

    /// Reads the textual form, trimmed. The error says what is accepted, after "must be".
    fn read(text: &str) -> Result<Self, &'static str>;
}

/// An absolute http or https URL without credentials, query or trailing slash; empty where there is no API to call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl(String);

impl BaseUrl {
    /// The URL, without a trailing slash.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The URL of a proxy, which may hold a password and is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct ProxyUrl(String);

impl ProxyUrl {
    /// The URL itself.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for ProxyUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("<redacted>")
    }
}

/// A positive span of time, written in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Seconds(pub Duration);

/// A size in bytes, written as a number or with KiB, MiB or GiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByteSize(pub u64);

/// A positive number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count(pub usize);

/// A boolean that accepts no other words than its own: a misspelt `read_only` must not pass for `false`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Switch(pub bool);

/// Names, separated by commas.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names(pub Vec<String>);

/// The address to listen on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BindHost(pub IpAddr);

/// A path such as `/mcp`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpPath(pub String);

/// What is logged: a level, or levels by target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLevel(pub String);

/// The form of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// In which words lists show input schemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaProfile {
    /// The same for every client.
    Always(Profile),
    /// By the name that a client gives itself.
    ByClient,
}

/// Which operations are listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exposed {
    /// The server's own selection.
    Preset,
    /// No operation.
    Nothing,
    /// All operations.
    Everything,
    /// These.
    Named(Vec<String>),
}

impl SettingValue for Secret {
    const KIND: Kind = Kind { secret: true, ..kind("SECRET", TomlForm::Text) };

    fn read(text: &str) -> Result<Self, &'static str> {
        if text.bytes().all(|byte| byte.is_ascii_graphic()) {
            Ok(Secret::new(text))
        } else {
            Err("visible ASCII without spaces, since it is sent in a header")
        }
    }
}

impl SettingValue for BaseUrl {
    const KIND: Kind = kind("URL", TomlForm::Text);

    fn read(text: &str) -> Result<Self, &'static str> {
        const ACCEPTED: &str = "an absolute http:// or https:// URL without credentials, query or fragment";
        let text = text.trim_end_matches('/');
        if text.is_empty() {
            return Ok(BaseUrl(String::new()));
        }
        let uri: axum::http::Uri = text.parse().map_err(|_| ACCEPTED)?;
        let scheme_fits = matches!(uri.scheme_str(), Some("http" | "https"));
        let host_fits = uri.host().is_some_and(|host| !host.is_empty());
        let bare = uri.query().is_none() && !text.contains(['#', '@', '?']);
        if scheme_fits && host_fits && bare { Ok(BaseUrl(text.to_owned())) } else { Err(ACCEPTED) }
    }
}

impl SettingValue for ProxyUrl {
    const KIND: Kind = Kind { secret: true, ..kind("URL", TomlForm::Text) };

    fn read(text: &str) -> Result<Self, &'static str> {
        const ACCEPTED: &str = "a URL such as http://proxy.example:3128";
        let uri: axum::http::Uri = text.parse().map_err(|_| ACCEPTED)?;
        let fits = matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some();
        if fits { Ok(ProxyUrl(text.to_owned())) } else { Err(ACCEPTED) }
    }
}

impl SettingValue for Seconds {
    const KIND: Kind = kind("SECONDS", TomlForm::Number);

    fn read(text: &str) -> Result<Self, &'static str> {
        const ACCEPTED: &str = "a positive number of seconds, at most 86400";
        let seconds: f64 = text.parse().map_err(|_| ACCEPTED)?;
        if seconds > 0.0 && seconds <= 86_400.0 { Ok(Seconds(Duration::from_secs_f64(seconds))) } else { Err(ACCEPTED) }
    }
}

impl SettingValue for ByteSize {
    const KIND: Kind = kind("BYTES", TomlForm::Number);

    fn read(text: &str) -> Result<Self, &'static str> {
        const ACCEPTED: &str = "a number of bytes, such as 1048576 or 1 MiB";
        let units = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1_u64 << 30)];
        let with_unit =
            units.iter().find_map(|(unit, factor)| text.strip_suffix(unit).map(|number| (number.trim(), *factor)));
        let (number, factor) = with_unit.unwrap_or((text, 1));
        let number: u64 = number.parse().map_err(|_| ACCEPTED)?;
        number.checked_mul(factor).map(ByteSize).ok_or(ACCEPTED)
    }
}

impl SettingValue for Count {
    const KIND: Kind = kind("COUNT", TomlForm::Number);

    fn read(text: &str) -> Result<Self, &'static str> {
        match text.parse() {
            Ok(count @ 1..=4096) => Ok(Count(count)),
            _ => Err("a whole number from 1 to 4096"),
        }
    }
}

impl SettingValue for u16 {
    const KIND: Kind = kind("PORT", TomlForm::Number);

    fn read(text: &str) -> Result<Self, &'static str> {
        text.parse().map_err(|_| "a port from 0 to 65535")
    }
}

/// True for 1, true, yes and on in any case; false for anything else, an empty text included.
impl SettingValue for bool {
    const KIND: Kind = Kind { empty_counts: true, ..kind("BOOL", TomlForm::Boolean) };

    fn read(text: &str) -> Result<Self, &'static str> {
        Ok(is_yes(text))
    }
}

impl SettingValue for Switch {
    const KIND: Kind = kind("BOOL", TomlForm::Boolean);

    fn read(text: &str) -> Result<Self, &'static str> {
        let no = ["0", "false", "no", "off"].iter().any(|word| text.eq_ignore_ascii_case(word));
        match (is_yes(text), no) {
            (true, _) => Ok(Switch(true)),
            (_, true) => Ok(Switch(false)),
            _ => Err("true or false"),
        }
    }
}

fn is_yes(text: &str) -> bool {
    ["1", "true", "yes", "on"].iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Placeholder of paths of files and folders.
pub(super) const PATH: &str = "PATH";

impl SettingValue for PathBuf {
    const KIND: Kind = kind(PATH, TomlForm::Text);

    fn read(text: &str) -> Result<Self, &'static str> {
        // A client starts a server in whatever folder it happens to be.
        let path = PathBuf::from(text);
        let fits = path.is_absolute() && !text.contains('\0');
        fits.then_some(path).ok_or("an absolute path, or one that begins with ~/")
    }
}

impl SettingValue for Names {
    const KIND: Kind = kind("NAMES", TomlForm::List);

    fn read(text: &str) -> Result<Self, &'static str> {
        Ok(Names(split_names(text)))
    }
}

impl SettingValue for Exposed {
    const KIND: Kind = kind("NAMES", TomlForm::List);

    fn read(text: &str) -> Result<Self, &'static str> {
        let word = text.to_ascii_lowercase();
        Ok(match word.as_str() {
            "" => Exposed::Preset,
            "none" | "gateway-only" | "gateway_only" => Exposed::Nothing,
            "*" => Exposed::Everything,
            _ => Exposed::Named(split_names(text)),
        })
    }
}

/// Splits at commas, trims, drops empties, and keeps the first of equal names.
fn split_names(text: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

impl SettingValue for BindHost {
    const KIND: Kind = kind("ADDRESS", TomlForm::Text);

    fn read(text: &str) -> Result<Self, &'static str> {
        if text.eq_ignore_ascii_case("localhost") {
            return Ok(BindHost(IpAddr::V4(Ipv4Addr::LOCALHOST)));
        }
        text.parse().map(BindHost).map_err(|_| "an IP address such as 127.0.0.1, ::1 or 0.0.0.0")
    }
}

impl SettingValue for HttpPath {
    const KIND: Kind = kind("URL_PATH", TomlForm::Text);

    fn read(text: &str) -> Result<Self, &'static str> {
        const RESERVED: [&str; 3] = ["/healthz", "/readyz", "/metrics"];
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte);
        let text = if text.len() > 1 { text.trim_end_matches('/') } else { text };
        if text.starts_with('/') && text.bytes().all(plain) && !RESERVED.contains(&text) {
            Ok(HttpPath(text.to_owned()))
        } else {
            Err("a path such as /mcp, of letters, digits and -_.~/, and none of /healthz, /readyz, /metrics")
        }
    }
}

/// Calls that a person is asked about first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confirm {
    /// None.
    Off,
    /// Those of destructive tools.
    Destructive,
    /// All that change something.
    Writes,
}

impl SettingValue for Confirm {
    const KIND: Kind = kind("CALLS", TomlForm::Text);

    fn read(text: &str) -> Result<Self, &'static str> {
        match text {
            "off" => Ok(Confirm::Off),
            "destructive" => Ok(Confirm::Destructive),
            "writes" => Ok(Confirm::Writes),
            _ => Err("off, destructive or writes"),
        }
    }
}

impl SettingValue for SchemaProfile {
    const KIND: Kind = kind("PROFILE", TomlForm::Text);

    fn read(text: &str) -> Result<Self, &'static str> {
        match text {
            "standard" => Ok(SchemaProfile::Always(Profile::Standard)),
            "inlined" => Ok(SchemaProfile::Always(Profile::Inlined)),
            "plain" => Ok(SchemaProfile::Always(Profile::Plain)),
            "auto" => Ok(SchemaProfile::ByClient),
            _ => Err("standard, inlined, plain or auto"),
        }
    }
}

impl SettingValue for LogFormat {
    const KIND: Kind = kind("FORMAT", TomlForm::Text);

    fn read(text: &str) -> Result<Self, &'static str> {
        match text {
            "text" => Ok(LogFormat::Text),
            "json" => Ok(LogFormat::Json),
            _ => Err("text or json"),
        }
    }
}

impl SettingValue for LogLevel {
    const KIND: Kind = kind("LEVEL", TomlForm::Text);

    fn read(text: &str) -> Result<Self, &'static str> {
        const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];
        let is_target = |target: &str| !target.is_empty() && !target.contains(char::is_whitespace);
        let fits = |directive: &str| match directive.split_once('=') {
            Some((target, level)) => is_target(target) && LEVELS.contains(&level),
            None => LEVELS.contains(&directive),
        };
        if text.split(',').all(|directive| fits(directive.trim())) {
            Ok(LogLevel(text.to_owned()))
        } else {
            Err("off, error, warn, info, debug, trace, or directives such as warn,toolwright=debug")
        }
    }
}

impl<T: SettingValue> SettingValue for Option<T> {
    const KIND: Kind = T::KIND;

    fn read(text: &str) -> Result<Self, &'static str> {
        if text.is_empty() { Ok(None) } else { T::read(text).map(Some) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn booleans_are_true_for_four_words_and_false_for_any_other() {
        for word in ["1", "true", "Yes", "ON"] {
            assert_eq!(bool::read(word), Ok(true), "{word}");
        }
        for word in ["", "0", "2", "y", "enabled"] {
            assert_eq!(bool::read(word), Ok(false), "{word}");
        }
    }

    #[test]
    fn a_switch_refuses_a_word_it_does_not_know() {
        assert_eq!(Switch::read("off"), Ok(Switch(false)));
        assert!(Switch::read("ture").is_err());
    }

    #[test]
    fn a_base_url_loses_its_trailing_slash() {
        assert_eq!(BaseUrl::read("http://h:8080/v1//"), Ok(BaseUrl("http://h:8080/v1".into())));
    }

    #[test]
    fn a_base_url_has_a_scheme_and_no_credentials() {
        for text in ["h:8080", "ftp://h", "http://", "http://u:p@h", "http://h/?a=1", "http://h/#f"] {
            assert!(BaseUrl::read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_take_binary_units() {
        assert_eq!(ByteSize::read("1 GiB"), Ok(ByteSize(1 << 30)));
        assert_eq!(ByteSize::read("17"), Ok(ByteSize(17)));
        assert!(ByteSize::read("-1").is_err());
        assert!(ByteSize::read("99999999999 GiB").is_err());
    }

    #[test]
    fn a_log_level_is_a_level_or_levels_by_target() {
        for text in ["off", "debug", "warn,toolwright=trace", "a::b=info"] {
            assert!(LogLevel::read(text).is_ok(), "{text}");
        }
        for text in ["", "loud", "louder=", "=info", "warn,,info"] {
            assert!(LogLevel::read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn seconds_are_positive_and_finite() {
        assert_eq!(Seconds::read("0.5"), Ok(Seconds(Duration::from_millis(500))));
        for text in ["0", "-1", "NaN", "inf", "soon"] {
            assert!(Seconds::read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn exposed_tools_follow_the_contract() {
        assert_eq!(Exposed::read(""), Ok(Exposed::Preset));
        assert_eq!(Exposed::read("Gateway-Only"), Ok(Exposed::Nothing));
        assert_eq!(Exposed::read("*"), Ok(Exposed::Everything));
        assert_eq!(Exposed::read("chat, ,b,chat"), Ok(Exposed::Named(vec!["chat".into(), "b".into()])));
        assert_eq!(Exposed::read("*,chat"), Ok(Exposed::Named(vec!["*".into(), "chat".into()])));
    }
}
