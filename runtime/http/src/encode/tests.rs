//! Wire vectors, written by hand from OpenAPI 3.1 section 4.8.12.4 and RFC 6570, and the expectations of real calls.

use serde_json::{Value, json};
use toolwright_core::{Code, HttpBinding, Location, Parameter, Style, ToolError};

use super::target;
use crate::testing::{GET, Server, Setting, json_answer, object, parameter, tool};

/// What is requested below `http://h` for one parameter.
fn sent(location: Location, style: Style, explode: bool, value: Value) -> String {
    let parameters = [parameter("color", location, style, explode)];
    let template = if location == Location::Path { "/p/{color}" } else { "/p" };
    let base = "http://h".parse().unwrap();
    let target = target(&base, template, &parameters, &object(json!({"color": value}))).unwrap();
    target.url.as_str().strip_prefix("http://h/p").unwrap().to_owned()
}

fn header(style: Style, explode: bool, value: Value) -> Option<String> {
    let parameters = [parameter("color", Location::Header, style, explode)];
    let base = "http://h".parse().unwrap();
    let target = target(&base, "/p", &parameters, &object(json!({"color": value}))).unwrap();
    target.headers.get("color").map(|value| String::from_utf8(value.as_bytes().to_vec()).unwrap())
}

fn cookie(explode: bool, value: Value) -> Option<String> {
    let parameters = [parameter("color", Location::Cookie, Style::Form, explode)];
    let base = "http://h".parse().unwrap();
    let target = target(&base, "/p", &parameters, &object(json!({"color": value}))).unwrap();
    target.headers.get("cookie").map(|value| value.to_str().unwrap().to_owned())
}

fn rgb() -> Value {
    json!({"R": 100, "G": 200, "B": 150})
}

fn list() -> Value {
    json!(["blue", "black", "brown"])
}

#[test]
fn a_list_of_objects_is_json_whole_where_it_is_joined_and_by_item_where_it_is_not() {
    let filters = || json!([{"a": 1}, {"a": 2}]);
    let joined = sent(Location::Query, Style::Form, false, filters());
    assert_eq!(joined, "?color=%5B%7B%22a%22%3A1%7D%2C%7B%22a%22%3A2%7D%5D");
    let exploded = sent(Location::Query, Style::Form, true, filters());
    assert_eq!(exploded, "?color=%7B%22a%22%3A1%7D&color=%7B%22a%22%3A2%7D");
}

#[test]
fn the_style_table_of_paths() {
    let vectors = [
        (Style::Simple, false, json!("blue"), "/blue"),
        (Style::Simple, false, list(), "/blue,black,brown"),
        (Style::Simple, true, list(), "/blue,black,brown"),
        (Style::Simple, false, rgb(), "/R,100,G,200,B,150"),
        (Style::Simple, true, rgb(), "/R=100,G=200,B=150"),
        (Style::Label, false, json!("blue"), "/.blue"),
        (Style::Label, false, list(), "/.blue,black,brown"),
        (Style::Label, true, list(), "/.blue.black.brown"),
        (Style::Label, false, rgb(), "/.R,100,G,200,B,150"),
        (Style::Label, true, rgb(), "/.R=100.G=200.B=150"),
        (Style::Matrix, false, json!("blue"), "/;color=blue"),
        (Style::Matrix, false, list(), "/;color=blue,black,brown"),
        (Style::Matrix, true, list(), "/;color=blue;color=black;color=brown"),
        (Style::Matrix, false, rgb(), "/;color=R,100,G,200,B,150"),
        (Style::Matrix, true, rgb(), "/;R=100;G=200;B=150"),
        (Style::Json, false, json!({"a": [1]}), "/%7B%22a%22%3A%5B1%5D%7D"),
        (Style::Pipes, false, list(), "/blue%7Cblack%7Cbrown"),
    ];
    for (style, explode, value, wanted) in vectors {
        assert_eq!(sent(Location::Path, style, explode, value), wanted, "{style:?}, explode {explode}");
    }
}

#[test]
fn the_style_table_of_queries() {
    let vectors = [
        (Style::Form, false, json!("blue"), "?color=blue"),
        (Style::Form, false, json!(""), "?color="),
        (Style::Form, false, list(), "?color=blue,black,brown"),
        (Style::Form, true, list(), "?color=blue&color=black&color=brown"),
        (Style::Form, false, rgb(), "?color=R,100,G,200,B,150"),
        (Style::Form, true, rgb(), "?R=100&G=200&B=150"),
        (Style::Spaces, false, list(), "?color=blue%20black%20brown"),
        (Style::Spaces, false, rgb(), "?color=R%20100%20G%20200%20B%20150"),
        (Style::Spaces, true, list(), "?color=blue&color=black&color=brown"),
        (Style::Pipes, false, list(), "?color=blue%7Cblack%7Cbrown"),
        (Style::Pipes, false, rgb(), "?color=R%7C100%7CG%7C200%7CB%7C150"),
        (Style::Tabs, false, list(), "?color=blue%09black%09brown"),
        (Style::Deep, true, rgb(), "?color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150"),
        (Style::Deep, true, json!({"a": {"b": 1}}), "?color%5Ba%5D%5Bb%5D=1"),
        (Style::Deep, true, json!({"a": [1, {"b": 2}]}), "?color%5Ba%5D%5B0%5D=1&color%5Ba%5D%5B1%5D%5Bb%5D=2"),
        (Style::Json, false, json!({"a": "b c"}), "?color=%7B%22a%22%3A%22b%20c%22%7D"),
    ];
    for (style, explode, value, wanted) in vectors {
        assert_eq!(sent(Location::Query, style, explode, value), wanted, "{style:?}, explode {explode}");
    }
}

#[test]
fn the_style_table_of_headers() {
    let vectors = [
        (false, json!("blue"), "blue"),
        (false, list(), "blue,black,brown"),
        (true, list(), "blue,black,brown"),
        (false, rgb(), "R,100,G,200,B,150"),
        (true, rgb(), "R=100,G=200,B=150"),
    ];
    for (explode, value, wanted) in vectors {
        assert_eq!(header(Style::Simple, explode, value).as_deref(), Some(wanted), "explode {explode}");
    }
}

#[test]
fn the_style_table_of_cookies() {
    assert_eq!(cookie(false, json!("a b")).as_deref(), Some("color=a%20b"));
    assert_eq!(cookie(false, list()).as_deref(), Some("color=blue,black,brown"));
    assert_eq!(cookie(true, list()).as_deref(), Some("color=blue; color=black; color=brown"));
    assert_eq!(cookie(true, rgb()).as_deref(), Some("R=100; G=200; B=150"));
}

fn bare_cookie(explode: bool, value: Value) -> Result<Option<String>, ToolError> {
    let parameters = [parameter("color", Location::Cookie, Style::Cookie, explode)];
    let base = "http://h".parse().unwrap();
    let target = target(&base, "/p", &parameters, &object(json!({"color": value})))?;
    Ok(target.headers.get("cookie").map(|value| value.to_str().unwrap().to_owned()))
}

/// By OpenAPI 3.2 section 4.12.3: the pairs of `form` with the separators of cookies, and nothing is percent-encoded.
#[test]
fn the_style_table_of_cookies_that_are_not_encoded() {
    let vectors = [
        (true, json!("a/b=c%20+"), Some("color=a/b=c%20+")),
        (true, json!(""), Some("color=")),
        (false, list(), Some("color=blue,black,brown")),
        (true, list(), Some("color=blue; color=black; color=brown")),
        (false, rgb(), Some("color=R,100,G,200,B,150")),
        (true, rgb(), Some("R=100; G=200; B=150")),
        (true, json!([]), None),
    ];
    for (explode, value, wanted) in vectors {
        let sent = bare_cookie(explode, value.clone()).unwrap();
        assert_eq!(sent.as_deref(), wanted, "{value} explode {explode}");
    }
}

#[test]
fn a_cookie_that_is_not_encoded_cannot_begin_another() {
    let texts = ["a;b", "a; sid=1", "a,b", "a b", "a\tb", "a\r\nb", "\"a\"", "a\\b", "\u{7f}", "é", "모"];
    let values = texts.into_iter().flat_map(|text| [json!(text), json!(["a", text]), json!({"k": text})]);
    let names = ["a;b", "a b", "a=b", ""].map(|name| json!({name: "x"}));
    for value in values.chain(names).chain([json!([{"a": 1}])]) {
        let error = bare_cookie(true, value.clone()).unwrap_err();
        assert_eq!(error.code, Code::InvalidArguments, "{value}");
        assert!(error.message.starts_with("`color` is sent in a cookie as it is"), "{}", error.message);
    }
    assert!(bare_cookie(false, json!({"a;b": "x"})).is_err());
}

#[test]
fn nothing_to_send_leaves_a_parameter_out() {
    for value in [Value::Null, json!([]), json!({}), json!([null])] {
        for style in [Style::Form, Style::Spaces, Style::Pipes, Style::Tabs, Style::Deep] {
            assert_eq!(sent(Location::Query, style, true, value.clone()), "", "{style:?} of {value}");
        }
        assert_eq!(header(Style::Simple, false, value.clone()), None);
        assert_eq!(cookie(true, value), None);
    }
}

#[test]
fn a_comma_within_a_value_is_not_a_separator() {
    assert_eq!(sent(Location::Query, Style::Form, false, json!(["x", "y,z"])), "?color=x,y%2Cz");
}

#[test]
fn reserved_characters_and_other_scripts_are_encoded() {
    assert_eq!(sent(Location::Query, Style::Form, true, json!("a&b=c#d+e 모")), "?color=a%26b%3Dc%23d%2Be%20%EB%AA%A8");
    assert_eq!(sent(Location::Path, Style::Simple, false, json!("org/m")), "/org%2Fm");
    assert_eq!(sent(Location::Path, Style::Simple, false, json!("a b?.gguf")), "/a%20b%3F.gguf");
    assert_eq!(sent(Location::Path, Style::Simple, false, json!("x#y%2Fz")), "/x%23y%252Fz");
    assert_eq!(sent(Location::Path, Style::Simple, false, json!("모델")), "/%EB%AA%A8%EB%8D%B8");
    assert_eq!(sent(Location::Path, Style::Simple, false, json!("%2e%2e")), "/%252e%252e");
    assert_eq!(sent(Location::Path, Style::Simple, false, json!("a-b_c.d~e")), "/a-b_c.d~e");
}

#[test]
fn numbers_keep_every_digit_and_booleans_are_words() {
    let big: Value = serde_json::from_str("12345678901234567890123").unwrap();
    assert_eq!(sent(Location::Query, Style::Form, true, big), "?color=12345678901234567890123");
    assert_eq!(sent(Location::Query, Style::Form, true, json!(true)), "?color=true");
}

#[test]
fn accepted_values_are_written_as_the_server_wants_them() {
    let parameters =
        [Parameter { send_as: &[("text", "txt")], ..parameter("format", Location::Query, Style::Form, true) }];
    let base = "http://h".parse().unwrap();
    let target = target(&base, "/p", &parameters, &object(json!({"format": ["text", "json"]}))).unwrap();
    assert_eq!(target.url.query(), Some("format=txt&format=json"));
}

#[test]
fn path_values_that_would_address_another_route_are_refused() {
    let base = "http://h/api".parse().unwrap();
    let parameters = [
        parameter("name", Location::Path, Style::Simple, false),
        parameter("file", Location::Path, Style::Simple, false),
    ];
    for value in ["..", ".", "...", ""] {
        let arguments = object(json!({"name": value, "file": "x"}));
        let error = target(&base, "/models/{name}/files/{file}", &parameters, &arguments).unwrap_err();
        assert!(error.message.starts_with("`name` "), "{value:?}: {}", error.message);
    }
}

#[test]
fn parts_of_a_segment_cannot_add_up_to_dots() {
    let parameters = [parameter("name", Location::Path, Style::Label, false)];
    let base = "http://h".parse().unwrap();
    assert!(target(&base, "/p/{name}", &parameters, &object(json!({"name": "."}))).is_err());
    assert!(target(&base, "/p/{name}", &parameters, &object(json!({"name": ["."]}))).is_err());
}

#[test]
fn a_missing_path_value_is_refused() {
    let parameters = [parameter("name", Location::Path, Style::Simple, false)];
    let base = "http://h".parse().unwrap();
    let error = target(&base, "/p/{name}", &parameters, &object(json!({}))).unwrap_err();
    assert_eq!(error.message, "`name` is part of the path and must not be empty");
}

#[test]
fn a_segment_may_mix_words_and_values() {
    let parameters =
        [parameter("a", Location::Path, Style::Simple, false), parameter("b", Location::Path, Style::Simple, false)];
    let base = "http://h".parse().unwrap();
    let target = target(&base, "/p/{a}..{b}:run", &parameters, &object(json!({"a": 1, "b": 2}))).unwrap();
    assert_eq!(target.url.path(), "/p/1..2:run");
}

#[test]
fn the_path_is_appended_to_the_base_and_never_resolved_against_it() {
    for (base, wanted) in [
        ("http://127.0.0.1:9", "/ping"),
        ("http://127.0.0.1:9/", "/ping"),
        ("http://127.0.0.1:9/proxy", "/proxy/ping"),
        ("http://127.0.0.1:9/proxy/", "/proxy/ping"),
    ] {
        let target = target(&base.parse().unwrap(), "/ping", &[], &object(json!({}))).unwrap();
        assert_eq!(target.url.path(), wanted, "{base}");
    }
}

#[test]
fn a_url_that_the_client_cannot_send_is_refused_as_what_it_is() {
    let base = "http://h".parse().unwrap();
    let parameters = [parameter("a", Location::Path, Style::Simple, false)];
    let of_length = |length: usize| {
        let value = "x".repeat(length - "http://h/p/".len());
        target(&base, "/p/{a}", &parameters, &object(json!({"a": value})))
    };
    assert!(of_length(65_534).is_ok());
    let refusal = of_length(65_535).unwrap_err();
    assert_eq!(refusal.code, Code::InvalidArguments);
    assert!(refusal.message.contains("65535 bytes"), "{}", refusal.message);
}

#[test]
fn a_query_within_the_template_stays() {
    let parameters = [parameter("b", Location::Query, Style::Form, true)];
    let base = "http://h".parse().unwrap();
    let target = target(&base, "/p?a=1#operation", &parameters, &object(json!({"b": 2}))).unwrap();
    assert_eq!(target.url.as_str(), "http://h/p?a=1&b=2");
}

#[test]
fn header_values_cannot_begin_another_header() {
    let parameters = [parameter("x-note", Location::Header, Style::Simple, false)];
    let base = "http://h".parse().unwrap();
    let error = target(&base, "/p", &parameters, &object(json!({"x-note": "a\r\nb: c"}))).unwrap_err();
    assert!(error.message.starts_with("`x-note` is sent as a header"), "{}", error.message);
}

#[test]
fn arguments_cannot_set_credentials_or_framing() {
    let base = "http://h".parse().unwrap();
    for name in ["Authorization", "Host", "Cookie", "Content-Length", "Transfer-Encoding"] {
        let parameters = [parameter(name, Location::Header, Style::Simple, false)];
        assert!(target(&base, "/p", &parameters, &object(json!({name: "x"}))).is_err(), "{name}");
    }
}

#[tokio::test]
async fn what_is_planned_is_what_is_on_the_wire() {
    const PARAMETERS: &[Parameter] = &[
        parameter("days", Location::Path, Style::Simple, false),
        parameter("a", Location::Query, Style::Form, true),
        parameter("b", Location::Query, Style::Form, false),
        parameter("X-E", Location::Header, Style::Simple, false),
    ];
    let server = Server::with(json_answer("{}")).await;
    let spec = tool(HttpBinding { path: "/pick/{days}", parameters: PARAMETERS, ..GET });
    let arguments = json!({"days": ["mon", "tue"], "a": ["x", "y"], "b": ["x", "y,z"], "X-E": [1, 2]});
    Setting::for_server(&server).call(&spec, arguments).await;
    let seen = server.only_request();
    assert_eq!(seen.line, "GET /pick/mon,tue?a=x&a=y&b=x,y%2Cz HTTP/1.1");
    assert_eq!(seen.header("x-e"), Some("1,2"));
}

fn reserved(style: Style, explode: bool, value: Value) -> String {
    let parameters = [Parameter { reserved: true, ..parameter("color", Location::Query, style, explode) }];
    let base = "http://h".parse().unwrap();
    let target = target(&base, "/p", &parameters, &object(json!({"color": value}))).unwrap();
    target.url.query().unwrap().to_owned()
}

/// OpenAPI 3.1.1 section 4.8.12.2.1 by way of RFC 6570 section 3.2.3, as far as a query can hold it.
#[test]
fn reserved_characters_stay_where_the_document_allows_them() {
    assert_eq!(reserved(Style::Form, true, json!("/a:b?c=d;e@f!$*(),")), "color=/a:b?c=d;e@f!$*(),");
    assert_eq!(reserved(Style::Form, true, json!("한 %20 100%")), "color=%ED%95%9C%20%20%20100%25");
    assert_eq!(reserved(Style::Deep, true, json!({"a/b": "c/d"})), "color%5Ba%2Fb%5D=c/d");
    assert_eq!(sent(Location::Query, Style::Form, true, json!("/a")), "?color=%2Fa");
}

#[test]
fn reserved_characters_that_would_be_misread_are_encoded_all_the_same() {
    assert_eq!(reserved(Style::Form, true, json!("a&b#c+d[e]")), "color=a%26b%23c%2Bd%5Be%5D");
    assert_eq!(reserved(Style::Form, false, json!(["a,b", "c/d"])), "color=a%2Cb,c/d");
}
