//! The handlers as the server calls them, without a server.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::time::Duration;

use starter_tools::native::Native;
use toolwright_core::{Code, Context, NativeOutput, NativeTools as _, ToolError};

async fn measure(text: &str, pace: &str) -> Result<NativeOutput, ToolError> {
    let context = Context::alone(Duration::from_secs(5), [("words_per_minute", pace)]);
    let arguments = serde_json::json!({"text": text}).as_object().unwrap().clone();
    Native(starter_native::handlers()).call("measure_text", arguments, &context).await
}

#[tokio::test]
async fn words_sentences_and_the_time_to_read_them() {
    let measured = measure("Short words, read fast. Are they?", "60").await.unwrap();
    let expected = serde_json::json!({"words": 6, "sentences": 2, "reading_seconds": 6, "longest_word": "Short"});
    assert_eq!(measured, NativeOutput::Data(expected));
}

#[tokio::test]
async fn an_empty_text_has_no_longest_word() {
    let measured = measure(" -- ", "220").await.unwrap();
    let expected = serde_json::json!({"words": 0, "sentences": 0, "reading_seconds": 0});
    assert_eq!(measured, NativeOutput::Data(expected));
}

#[tokio::test]
async fn a_pace_that_is_no_number_is_named() {
    let error = measure("a", "fast").await.unwrap_err();
    assert_eq!(error.code, Code::HandlerFailed);
    assert!(error.message.contains("`words_per_minute`") && error.message.contains("`fast`"), "{error}");
}

#[tokio::test]
async fn a_tool_without_a_handler_is_refused() {
    let context = Context::alone(Duration::from_secs(5), []);
    let refused = Native(starter_native::handlers()).call("define_word", Default::default(), &context).await;
    assert_eq!(refused.unwrap_err().code, Code::NotAllowed);
}

#[test]
fn a_missing_handler_is_a_compile_error() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
