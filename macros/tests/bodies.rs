//! Rows of bodies that are not JSON, of several bodies, and of operations with credentials and servers of their own.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use serde::Serialize;
use toolwright_core::{Binding, Body, FieldKind, HttpBinding, PartHeaderValue, Style, Tool};
use toolwright_macros::Tool;

/// Send an archive.
#[derive(Serialize, Tool)]
#[tool(name = "send_archive", title = "Send", risk = write, schema = "tests/schemas/get_widget.json")]
#[http(put = "/archive", server = "https://files.example", security((), ("a", "b")))]
pub struct SendArchive {
    #[body(media_type = "application/x-tar")]
    pub file: String,
}

/// Choose a body.
#[derive(Serialize, Tool)]
#[tool(name = "choose", title = "Choose", risk = write, schema = "tests/schemas/get_widget.json")]
#[http(post = "/choose", security())]
pub struct Choose {
    #[body(required)]
    pub request: Option<serde_json::Value>,
    #[alternative(media_type = "text/plain", required)]
    pub text: Option<String>,
    #[alternative(
        media_type = "multipart/form-data",
        field(wire = "data", file, content_type = "image/png"),
        field(wire = "deep", style = deep, explode = true)
    )]
    pub form: Option<serde_json::Value>,
    #[content_type]
    pub content_type: Option<String>,
}

/// Send any fields.
#[derive(Serialize, Tool)]
#[tool(name = "send_fields", title = "Fields", risk = write, schema = "tests/schemas/get_widget.json")]
#[http(post = "/fields")]
pub struct SendFields {
    #[extra(urlencoded)]
    pub form: Option<serde_json::Value>,
}

/// Send one part.
#[derive(Serialize, Tool)]
#[tool(name = "send_part", title = "Part", risk = write, schema = "tests/schemas/get_widget.json")]
#[http(post = "/part")]
pub struct SendPart {
    #[part(content_type = "application/xml")]
    pub meta: String,
}

/// Send parts with headers.
#[derive(Serialize, Tool)]
#[tool(name = "send_mixed", title = "Mixed", risk = write, schema = "tests/schemas/get_widget.json")]
#[http(post = "/mixed", multipart = "multipart/mixed", part_headers(("meta", "X-Kind", "note")))]
pub struct SendMixed {
    #[part]
    pub meta: String,
    #[part_header(part = "meta", wire = "X-Digest")]
    pub meta_digest: Option<String>,
}

fn http<T: Tool>() -> HttpBinding {
    match T::SPEC.binding {
        Binding::Http(binding) => binding,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_body_that_is_not_json_is_raw() {
    assert!(matches!(http::<SendArchive>().body, Body::Raw { argument: "file", media_type: "application/x-tar" }));
}

#[test]
fn a_server_and_credentials_of_its_own_stand_in_the_row() {
    let binding = http::<SendArchive>();
    assert_eq!(binding.server, Some("https://files.example"));
    assert_eq!(binding.security, Some(&[&[][..], &["a", "b"][..]][..]));
    assert_eq!(http::<Choose>().security, Some(&[][..]));
    assert_eq!((http::<SendPart>().security, http::<SendPart>().server), (None, None));
}

#[test]
fn a_choice_has_the_first_body_and_its_alternatives() {
    let Body::Choice { argument, alternatives } = http::<Choose>().body else { panic!() };
    assert_eq!(argument, "content_type");
    let types: Vec<&str> = alternatives.iter().map(|it| it.media_type).collect();
    assert_eq!(types, ["application/json", "text/plain", "multipart/form-data"]);
    let required: Vec<&[&str]> = alternatives.iter().map(|it| it.required).collect();
    assert_eq!(required, [&["request"][..], &["text"], &[]]);
    assert_eq!(alternatives[2].inside, Some("form"));
    let Body::Multipart { fields, .. } = alternatives[2].body else { panic!() };
    assert_eq!((fields[0].kind, fields[0].content_type), (FieldKind::File, Some("image/png")));
    assert_eq!((fields[1].style, fields[1].explode), (Style::Deep, true));
}

#[test]
fn a_form_of_any_fields_is_urlencoded_where_it_says_so() {
    assert!(matches!(http::<SendFields>().body, Body::Form { fields: &[], extra: Some("form") }));
}

#[test]
fn a_part_has_its_content_type() {
    let Body::Multipart { fields, .. } = http::<SendPart>().body else { panic!() };
    assert_eq!(fields[0].content_type, Some("application/xml"));
}

#[test]
fn a_multipart_body_has_its_type_and_the_headers_of_its_parts() {
    let Body::Multipart { media_type, headers, .. } = http::<SendMixed>().body else { panic!() };
    assert_eq!(media_type, "multipart/mixed");
    let values = headers.iter().map(|header| (header.part, header.wire, header.value)).collect::<Vec<_>>();
    let digest = PartHeaderValue::Argument { name: "meta_digest", explode: false };
    assert_eq!(values, [("meta", "X-Kind", PartHeaderValue::Fixed("note")), ("meta", "X-Digest", digest)]);
    let Body::Multipart { media_type, headers, .. } = http::<SendPart>().body else { panic!() };
    assert_eq!((media_type, headers.len()), ("multipart/form-data", 0));
}
