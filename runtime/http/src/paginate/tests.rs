//! Lists in pages: what is asked for, what is joined, and where it ends.

use serde_json::{Value, json};
use toolwright_core::{Envelope, HttpBinding, Location, NextPage, Paginate, Parameter, Style, ToolSpec};

use crate::testing::{GET, Server, Setting, answer, json_answer, parameter, tool};

const PARAMETERS: &[Parameter] = &[
    parameter("offset", Location::Query, Style::Form, true),
    parameter("limit", Location::Query, Style::Form, true),
    parameter("page", Location::Query, Style::Form, true),
    parameter("cursor", Location::Query, Style::Form, true),
];

const fn paged(items: &'static str, next: NextPage) -> ToolSpec {
    let paginate = Some(Paginate { argument: "max_items", items, next });
    tool(HttpBinding { parameters: PARAMETERS, paginate, ..GET })
}

const OFFSET: ToolSpec = paged("", NextPage::Offset { argument: "offset", size: Some("limit") });
const PAGE: ToolSpec = paged("/rows", NextPage::Page { argument: "page", size: None, first: 1 });
const CURSOR: ToolSpec = paged("/rows", NextPage::Cursor { answer: "/next", argument: "cursor" });
const LINK: ToolSpec = paged("", NextPage::Link);

/// The queries of the requests, and the result.
async fn called(spec: &ToolSpec, arguments: Value, answers: Vec<Vec<u8>>) -> (Vec<String>, Envelope) {
    let server = Server::in_turn(answers).await;
    let envelope = Setting::for_server(&server).call(spec, arguments).await;
    let query = |line: &str| {
        line.split_whitespace().nth(1).and_then(|path| path.split_once('?')).map_or("", |it| it.1).to_owned()
    };
    (server.requests().iter().map(|request| query(&request.line)).collect(), envelope)
}

fn pages(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| json_answer(text)).collect()
}

fn data(envelope: &Envelope) -> Value {
    envelope.to_json()["data"].clone()
}

#[tokio::test]
async fn without_the_argument_one_page_is_asked_for_as_it_is() {
    let (queries, envelope) = called(&OFFSET, json!({"limit": 2}), pages(&["[1,2]", "[3]"])).await;
    assert_eq!((queries, data(&envelope)), (vec!["limit=2".to_owned()], json!([1, 2])));
}

#[tokio::test]
async fn an_offset_grows_by_what_came_until_a_page_is_shorter() {
    let (queries, envelope) =
        called(&OFFSET, json!({"limit": 2, "max_items": 9}), pages(&["[1,2]", "[3,4]", "[5]"])).await;
    assert_eq!(queries, ["limit=2", "offset=2&limit=2", "offset=4&limit=2"]);
    assert_eq!((data(&envelope), envelope.warnings), (json!([1, 2, 3, 4, 5]), vec![]));
}

#[tokio::test]
async fn what_is_cut_says_where_to_go_on() {
    let (queries, envelope) =
        called(&OFFSET, json!({"offset": 10, "limit": 2, "max_items": 3}), pages(&["[1,2]", "[3,4]"])).await;
    assert_eq!((queries.len(), data(&envelope)), (2, json!([1, 2, 3])));
    let told = "there may be more than the 3 items that were wanted; to go on, call again with `offset`: 13";
    assert_eq!(envelope.warnings, [told]);
}

#[tokio::test]
async fn an_api_that_gives_smaller_pages_than_asked_for_is_asked_on() {
    let (queries, envelope) =
        called(&OFFSET, json!({"limit": 50, "max_items": 99}), pages(&["[1,2]", "[3,4]", "[]"])).await;
    assert_eq!((queries.len(), data(&envelope)), (3, json!([1, 2, 3, 4])));
}

#[tokio::test]
async fn no_larger_page_is_asked_for_than_is_wanted() {
    let (queries, envelope) = called(&OFFSET, json!({"limit": 50, "max_items": 2}), pages(&["[1,2]"])).await;
    assert_eq!((queries, data(&envelope)), (vec!["limit=2".to_owned()], json!([1, 2])));
}

#[tokio::test]
async fn pages_are_counted_from_the_first_until_one_is_empty() {
    let texts = [r#"{"rows":[1],"n":1}"#, r#"{"rows":[2],"n":2}"#, r#"{"rows":[],"n":3}"#];
    let (queries, envelope) = called(&PAGE, json!({"max_items": 9}), pages(&texts)).await;
    assert_eq!(queries, ["", "page=2", "page=3"]);
    assert_eq!(data(&envelope), json!({"rows": [1, 2], "n": 3}));
}

#[tokio::test]
async fn a_cursor_is_given_back_until_there_is_none() {
    let texts = [r#"{"rows":[1],"next":"a"}"#, r#"{"rows":[2],"next":7}"#, r#"{"rows":[3],"next":null}"#];
    let (queries, envelope) = called(&CURSOR, json!({"max_items": 9}), pages(&texts)).await;
    assert_eq!(queries, ["", "cursor=a", "cursor=7"]);
    assert_eq!(data(&envelope), json!({"rows": [1, 2, 3], "next": null}));
}

#[tokio::test]
async fn a_cursor_that_does_not_advance_ends_the_list() {
    let texts = [r#"{"rows":[1],"next":"a"}"#, r#"{"rows":[2],"next":"a"}"#];
    let (queries, envelope) = called(&CURSOR, json!({"max_items": 9}), pages(&texts)).await;
    assert_eq!((queries.len(), &data(&envelope)["rows"]), (2, &json!([1, 2])));
    assert!(envelope.warnings[0].contains("leads back"), "{:?}", envelope.warnings);
}

#[tokio::test]
async fn an_api_that_ignores_the_offset_is_not_asked_for_ever() {
    let (queries, envelope) = called(&OFFSET, json!({"max_items": 50}), pages(&["[1,2]"])).await;
    assert_eq!((queries.len(), data(&envelope)), (2, json!([1, 2])));
    assert!(envelope.warnings[0].contains("same page again"), "{:?}", envelope.warnings);
}

#[tokio::test]
async fn links_are_followed_on_the_same_origin_only() {
    let page = |link: &str, body: &str| answer("200 OK", &[("content-type", "application/json"), ("link", link)], body);
    let answers =
        vec![page("</thing?after=1>; rel=\"next\"", "[1]"), page("<http://127.0.0.1:9/thing>; rel=\"next\"", "[2]")];
    let (queries, envelope) = called(&LINK, json!({"max_items": 9}), answers).await;
    assert_eq!((queries, data(&envelope)), (vec![String::new(), "after=1".to_owned()], json!([1, 2])));
    let warning = &envelope.warnings[0];
    assert!(warning.starts_with("there is a next page at http://127.0.0.1:9, which is not asked"), "{warning}");
}

#[tokio::test]
async fn a_page_that_fails_leaves_those_before_it() {
    let answers = vec![json_answer("[1,2]"), answer("500 Internal Server Error", &[], "")];
    let (_, envelope) = called(&OFFSET, json!({"limit": 2, "max_items": 9}), answers).await;
    assert_eq!((envelope.ok, data(&envelope)), (true, json!([1, 2])));
    let warning = &envelope.warnings[0];
    assert!(warning.starts_with("page 2 failed") && warning.ends_with("call again with `offset`: 2"), "{warning}");
}

#[tokio::test]
async fn a_first_page_that_fails_is_the_failure() {
    let (_, envelope) = called(&OFFSET, json!({"max_items": 9}), vec![answer("404 Not Found", &[], "")]).await;
    assert_eq!((envelope.ok, envelope.status_code), (false, Some(404)));
}

#[tokio::test]
async fn all_pages_together_keep_the_limit_of_one_answer() {
    let server = Server::in_turn(pages(&["[\"aaaaaaaaaaaa\"]", "[\"bbbbbbbbbbbb\"]"])).await;
    let setting = Setting::for_server(&server).with(|config| config.max_response_bytes = 20);
    let envelope = setting.call(&OFFSET, json!({"max_items": 9})).await;
    assert_eq!(data(&envelope), json!(["aaaaaaaaaaaa"]));
    assert!(envelope.warnings[0].contains("20 bytes"), "{:?}", envelope.warnings);
}

#[tokio::test]
async fn an_answer_without_the_list_is_given_as_it_is() {
    let (queries, envelope) = called(&PAGE, json!({"max_items": 9}), pages(&[r#"{"other":1}"#])).await;
    assert_eq!((queries.len(), data(&envelope)), (1, json!({"other": 1})));
    assert!(envelope.warnings[0].contains("no list at /rows"), "{:?}", envelope.warnings);
}

#[tokio::test]
async fn a_list_without_end_stops_at_the_most_pages() {
    let counter = std::sync::atomic::AtomicU32::new(0);
    let server = Server::running(move |_, mut stream| {
        let count = counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        async move {
            use tokio::io::AsyncWriteExt as _;
            let _ = stream.write_all(&json_answer(&format!("[{count}]"))).await;
            let _ = stream.shutdown().await;
        }
    })
    .await;
    let envelope = Setting::for_server(&server).call(&OFFSET, json!({"max_items": 10000})).await;
    assert_eq!(server.requests().len(), 100);
    assert!(envelope.warnings[0].ends_with("call again with `offset`: 100"), "{:?}", envelope.warnings);
}
