//! What the mock finds wrong with a request.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod client;

use client::{Form, client, openapi, serve, swagger, violations};
use serde_json::{Value, json};
use toolwright_mock::Kind;

async fn get(document: Value, path: &str) -> Vec<(Kind, String)> {
    let mock = serve(document);
    client().get(format!("{}{path}", mock.url())).send().await.unwrap();
    violations(&mock)
}

async fn post_json(document: Value, body: Value) -> Vec<(Kind, String)> {
    let mock = serve(document);
    let request = client().post(format!("{}/a", mock.url())).header("content-type", "application/json");
    request.body(body.to_string()).send().await.unwrap();
    violations(&mock)
}

async fn post_form(document: Value, form: Form) -> Vec<(Kind, String)> {
    let mock = serve(document);
    client::post_form(format!("{}/a", mock.url()), form).await;
    violations(&mock)
}

fn with_query(parameter: Value) -> Value {
    swagger("/a", "get", json!({"parameters": [parameter], "responses": {}}))
}

fn with_body(schema: Value) -> Value {
    swagger(
        "/a",
        "post",
        json!({"parameters": [{"in": "body", "name": "b", "required": true, "schema": schema}], "responses": {}}),
    )
}

fn with_form(fields: Value) -> Value {
    swagger("/a", "post", json!({"consumes": ["multipart/form-data"], "parameters": fields, "responses": {}}))
}

#[tokio::test]
async fn an_unknown_path_is_a_violation() {
    assert_eq!(
        get(swagger("/a", "get", json!({"responses": {}})), "/b").await,
        [(Kind::UnknownRoute, "request line".into())]
    );
}

#[tokio::test]
async fn an_undeclared_query_parameter_is_a_violation() {
    let document = with_query(json!({"in": "query", "name": "limit", "type": "integer"}));
    assert_eq!(get(document, "/a?limit=3&x=1").await, [(Kind::Undeclared, "query x".into())]);
}

#[tokio::test]
async fn a_required_query_parameter_must_be_there() {
    let document = with_query(json!({"in": "query", "name": "limit", "type": "integer", "required": true}));
    assert_eq!(get(document, "/a").await, [(Kind::Missing, "query limit".into())]);
}

#[tokio::test]
async fn the_type_of_a_query_value_is_checked() {
    let document = with_query(json!({"in": "query", "name": "limit", "type": "integer"}));
    assert_eq!(get(document, "/a?limit=many").await, [(Kind::BadValue, "query limit".into())]);
}

#[tokio::test]
async fn a_csv_list_is_one_pair() {
    let ids = json!({"in": "query", "name": "ids", "type": "array", "items": {"type": "integer"}});
    assert_eq!(get(with_query(ids.clone()), "/a?ids=1,2").await, []);
    assert_eq!(get(with_query(ids), "/a?ids=1&ids=2").await, [(Kind::BadValue, "query ids".into())]);
}

#[tokio::test]
async fn a_multi_list_is_one_pair_an_item() {
    let ids = json!({"in": "query", "name": "ids", "type": "array", "items": {"type": "integer"}, "collectionFormat": "multi"});
    assert_eq!(get(with_query(ids.clone()), "/a?ids=1&ids=2").await, []);
    assert_eq!(get(with_query(ids), "/a?ids=1,2").await, [(Kind::BadValue, "query ids /0".into())]);
}

#[tokio::test]
async fn pipes_separate_where_they_are_declared() {
    let langs = json!({"in": "query", "name": "l", "type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "collectionFormat": "pipes"});
    assert_eq!(get(with_query(langs.clone()), "/a?l=a%7Cb").await, []);
    assert_eq!(get(with_query(langs), "/a?l=a,b").await, [(Kind::BadValue, "query l /0".into())]);
}

#[tokio::test]
async fn a_path_value_is_checked_after_decoding() {
    let kind = json!({"in": "path", "name": "kind", "required": true, "type": "string", "enum": ["a b"]});
    let document = swagger("/k/{kind}", "get", json!({"parameters": [kind], "responses": {}}));
    assert_eq!(get(document.clone(), "/k/a%20b").await, []);
    assert_eq!(get(document, "/k/c").await, [(Kind::BadValue, "path kind".into())]);
}

#[tokio::test]
async fn a_body_is_checked_against_its_schema() {
    let document = with_body(
        json!({"type": "object", "required": ["m"], "properties": {"m": {"type": "string"}, "n": {"type": "array", "items": {"type": "integer"}}}}),
    );
    assert_eq!(post_json(document.clone(), json!({"m": "x", "n": [1]})).await, []);
    let wrong = post_json(document, json!({"n": [1, "2"]})).await;
    assert_eq!(wrong, [(Kind::BadBody, "body".into()), (Kind::BadBody, "body /n/1".into())]);
}

#[tokio::test]
async fn unknown_fields_of_an_open_body_are_noted_not_blamed() {
    let mock = serve(with_body(json!({"properties": {"m": {"type": "string"}}})));
    client()
        .post(format!("{}/a", mock.url()))
        .header("content-type", "application/json")
        .body(r#"{"x":1}"#)
        .send()
        .await
        .unwrap();
    assert_eq!(violations(&mock), []);
    assert_eq!(mock.requests()[0].extra_fields, ["/x"]);
}

#[tokio::test]
async fn a_body_needs_the_declared_media_type() {
    let mock = serve(with_body(json!({"type": "object"})));
    client().post(format!("{}/a", mock.url())).header("content-type", "text/plain").body("{}").send().await.unwrap();
    assert_eq!(violations(&mock), [(Kind::ContentType, "header content-type".into())]);
}

#[tokio::test]
async fn a_required_body_must_be_there_and_an_undeclared_one_must_not() {
    let mock = serve(with_body(json!({"type": "object"})));
    client().post(format!("{}/a", mock.url())).send().await.unwrap();
    assert_eq!(violations(&mock), [(Kind::BodyPresence, "body".into())]);
    let none = swagger("/a", "post", json!({"responses": {}}));
    assert_eq!(post_json(none, json!({})).await, [(Kind::BodyPresence, "body".into())]);
}

#[tokio::test]
async fn parts_are_recorded_and_a_file_needs_a_name() {
    let document = with_form(
        json!([{"in": "formData", "name": "f", "type": "file", "required": true}, {"in": "formData", "name": "n", "type": "integer"}]),
    );
    let mock = serve(document.clone());
    let form = Form::default().file("f", "목소리.wav", "audio/wav", &[0, 255]).text("n", "3");
    client::post_form(format!("{}/a", mock.url()), form).await;
    assert_eq!(violations(&mock), []);
    let request = &mock.requests()[0];
    let part = request.part("f").unwrap();
    assert_eq!(
        (part.filename.as_deref(), part.content_type.as_deref(), &part.bytes[..]),
        (Some("목소리.wav"), Some("audio/wav"), &[0, 255][..])
    );

    let nameless = Form::default().text("f", "x").text("n", "three");
    assert_eq!(
        post_form(document, nameless).await,
        [(Kind::BadValue, "part f".into()), (Kind::BadValue, "part n".into())]
    );
}

#[tokio::test]
async fn undeclared_and_missing_parts_are_violations() {
    let document = with_form(json!([{"in": "formData", "name": "f", "type": "file", "required": true}]));
    assert_eq!(
        post_form(document, Form::default().text("x", "1")).await,
        [(Kind::Missing, "part f".into()), (Kind::Undeclared, "part x".into())]
    );
}

#[tokio::test]
async fn a_file_forces_multipart_whatever_consumes_says() {
    let mut document = with_form(json!([{"in": "formData", "name": "f", "type": "file"}]));
    document["paths"]["/a"]["post"]["consumes"] = json!(["application/json"]);
    assert_eq!(post_json(document, json!({"f": "x"})).await, [(Kind::ContentType, "header content-type".into())]);
}

#[tokio::test]
async fn a_form_without_files_is_urlencoded_and_checked() {
    let document = swagger(
        "/a",
        "post",
        json!({"parameters": [{"in": "formData", "name": "n", "type": "integer"}], "responses": {}}),
    );
    let mock = serve(document);
    let request =
        client().post(format!("{}/a", mock.url())).header("content-type", "application/x-www-form-urlencoded");
    request.body("n=x&m=1").send().await.unwrap();
    assert_eq!(violations(&mock), [(Kind::BadValue, "form n".into()), (Kind::Undeclared, "part m".into())]);
}

#[tokio::test]
async fn openapi_styles_are_read_as_declared() {
    let array = json!({"type": "array", "items": {"enum": ["x", "y,z"]}});
    let parameters = json!([
        {"in": "query", "name": "a", "schema": array},
        {"in": "query", "name": "b", "schema": array, "explode": false},
        {"in": "query", "name": "d", "style": "deepObject", "schema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}},
        {"in": "query", "name": "o", "schema": {"type": "object", "properties": {"k": {"type": "integer"}}}},
    ]);
    let document = openapi("/a", "get", json!({"parameters": parameters, "responses": {}}));
    assert_eq!(get(document.clone(), "/a?a=x&a=y%2Cz&b=x,y%2Cz&d%5Bn%5D=1&k=4").await, []);
    assert_eq!(
        get(document, "/a?d[n]=z&k=w").await,
        [(Kind::BadValue, "query d /n".into()), (Kind::BadValue, "query o /k".into())]
    );
}

#[tokio::test]
async fn path_styles_are_read_as_declared() {
    let numbers = json!({"type": "array", "items": {"type": "integer"}});
    let path = |style: &str, explode: bool| {
        let parameter =
            json!({"in": "path", "name": "v", "required": true, "style": style, "explode": explode, "schema": numbers});
        openapi("/p/{v}", "get", json!({"parameters": [parameter], "responses": {}}))
    };
    assert_eq!(get(path("simple", false), "/p/1,2").await, []);
    assert_eq!(get(path("label", true), "/p/.1.2").await, []);
    assert_eq!(get(path("matrix", false), "/p/;v=1,2").await, []);
    assert_eq!(get(path("matrix", true), "/p/;v=1;v=2").await, []);
    assert_eq!(get(path("label", true), "/p/1.2").await, [(Kind::BadValue, "path v".into())]);
}

#[tokio::test]
async fn headers_and_cookies_are_parameters_too() {
    let parameters = json!([
        {"in": "header", "name": "X-Limit", "required": true, "schema": {"type": "integer"}},
        {"in": "cookie", "name": "theme", "schema": {"enum": ["dark"]}},
    ]);
    let mock = serve(openapi("/a", "get", json!({"parameters": parameters, "responses": {}})));
    client()
        .get(format!("{}/a", mock.url()))
        .header("x-limit", "a")
        .header("cookie", "theme=light")
        .send()
        .await
        .unwrap();
    assert_eq!(violations(&mock), [(Kind::BadValue, "header X-Limit".into()), (Kind::BadValue, "cookie theme".into())]);
}

#[tokio::test]
async fn the_style_of_a_cookie_says_whether_it_is_encoded() {
    for (style, wanted) in [("form", vec![]), ("cookie", vec![(Kind::BadValue, "cookie theme".to_owned())])] {
        let parameters = json!([{"in": "cookie", "name": "theme", "style": style, "schema": {"enum": ["a/b"]}}]);
        let mock = serve(openapi("/a", "get", json!({"parameters": parameters, "responses": {}})));
        client().get(format!("{}/a", mock.url())).header("cookie", "theme=a%2Fb").send().await.unwrap();
        assert_eq!(violations(&mock), wanted, "{style}");
    }
}

#[tokio::test]
async fn openapi_form_parts_may_be_json() {
    let schema = json!({"type": "object", "properties": {
        "files": {"type": "array", "items": {"type": "string", "format": "binary"}}, "meta": {"type": "object", "properties": {"n": {"type": "integer"}}}}});
    let document = openapi(
        "/a",
        "post",
        json!({"requestBody": {"content": {"multipart/form-data": {"schema": schema}}}, "responses": {}}),
    );
    let file = |form: Form| form.file("files", "a.bin", "application/octet-stream", &[1]);
    let right = file(file(Form::default())).text("meta", r#"{"n":1}"#);
    assert_eq!(post_form(document.clone(), right).await, []);
    assert_eq!(
        post_form(document, Form::default().text("meta", r#"{"n":"1"}"#)).await,
        [(Kind::BadValue, "part meta /n".into())]
    );
}

#[tokio::test]
async fn declared_headers_of_a_part_are_checked() {
    let headers =
        json!({"X-Level": {"required": true, "schema": {"type": "integer"}}, "Content-Type": {"required": true}});
    let form = json!({"schema": {"type": "object", "properties": {"note": {"type": "string"}}}, "encoding": {"note": {"headers": headers}}});
    let document =
        openapi("/a", "post", json!({"requestBody": {"content": {"multipart/mixed": form}}, "responses": {}}));
    let posted = async |header: &str| {
        let mock = serve(document.clone());
        let body = format!("--b\r\nContent-Disposition: form-data; name=\"note\"\r\n{header}\r\nx\r\n--b--\r\n");
        let request = client().post(format!("{}/a", mock.url())).header("content-type", "multipart/mixed; boundary=b");
        request.body(body).send().await.unwrap();
        violations(&mock)
    };
    assert_eq!(posted("X-Level: 3\r\n").await, []);
    assert_eq!(posted("").await, [(Kind::Missing, "part note header X-Level".into())]);
    assert_eq!(posted("X-Level: high\r\n").await, [(Kind::BadValue, "part note header X-Level".into())]);
}
