use super::*;
use crate::answer::StopReason;

/// Line ends of both kinds, comments, an event of two lines, no space behind the colon.
const SAMPLE: &str = concat!(
    ": keep-alive\r\n\r\n",
    "data:{\"choices\":[{\"delta\":{\"content\":\"안\"}}]}\n\n",
    "event: message\r\nid: 7\r\ndata: {\"choices\":[{\"delta\":\r\ndata: {\"content\":\"녕\"}}]}\r\n\r\n",
    ":\n\n",
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":2,\"completion_tokens\":3}}\n\n",
);
const FAILURE: &str = "data: {\"error\":{\"message\":\"out of memory\"}}\n\n";
const DONE: &str = "data:[DONE]\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"late\"}}]}\n\n";

const EVENTS: &str = "text/event-stream";

/// Feeds a text in pieces of that size, and ends the connection behind it.
fn read(dialect: Dialect, media_type: &str, text: &str, size: usize) -> Result<Answer, (Wrong, String)> {
    let mut reading = Reading::new(dialect, media_type);
    for piece in text.as_bytes().chunks(size) {
        match reading.feed(piece) {
            Ok(brought) if brought.done => return reading.finish(),
            Ok(_) => {}
            Err(wrong) => return Err((wrong, reading.partial())),
        }
    }
    reading.end()
}

fn openai(text: &str) -> Result<Answer, (Wrong, String)> {
    read(Dialect::OpenAi, EVENTS, text, 4096)
}

fn ollama(text: &str) -> Result<Answer, (Wrong, String)> {
    read(Dialect::Ollama, "application/x-ndjson", text, 4096)
}

#[test]
fn a_stream_reads_the_same_however_it_is_cut() {
    for size in [1, 2, 3, 5, 7, 64, 4096] {
        let answer = read(Dialect::OpenAi, EVENTS, &format!("{SAMPLE}{DONE}"), size).unwrap();
        assert_eq!((answer.text.as_str(), answer.usage.output_tokens), ("안녕", Some(3)), "pieces of {size}");
    }
}

#[test]
fn an_error_within_a_stream_ends_it_and_keeps_what_had_come() {
    for size in [1, 3, 4096] {
        let (wrong, partial) = read(Dialect::OpenAi, EVENTS, &format!("{SAMPLE}{FAILURE}{DONE}"), size).unwrap_err();
        let Wrong::Reported(reported) = wrong else { panic!("{wrong:?}") };
        assert_eq!((reported.message.as_deref(), partial.as_str()), (Some("out of memory"), "안녕"));
    }
}

#[test]
fn a_stream_that_just_ends_is_incomplete() {
    assert_eq!(openai(SAMPLE), Err((Wrong::Cut, "안녕".to_owned())));
    assert_eq!(openai(""), Err((Wrong::Cut, String::new())));
    assert_eq!(openai(": keep-alive\n\n"), Err((Wrong::Cut, String::new())));
}

#[test]
fn without_done_a_reason_to_end_will_do() {
    let answer =
        openai("data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\n").unwrap();
    assert_eq!((answer.text.as_str(), answer.stop), ("Hi", StopReason::End));
}

#[test]
fn a_stream_of_something_else_is_no_answer() {
    let (wrong, _) = openai("data: <html>\n\n").unwrap_err();
    assert_eq!(wrong, Wrong::Unreadable("an event of its stream is no JSON object".into()));
    let (wrong, _) = openai("data: [DONE]\n\n").unwrap_err();
    assert_eq!(wrong, Wrong::Unreadable("it has no choices".into()));
}

#[test]
fn an_endless_event_is_an_error() {
    let (wrong, _) = openai(&"x".repeat(LONGEST_EVENT + 2)).unwrap_err();
    assert!(matches!(wrong, Wrong::TooLarge(_)), "{wrong:?}");
    let (wrong, _) = ollama(&"x".repeat(LONGEST_EVENT + 2)).unwrap_err();
    assert!(matches!(wrong, Wrong::TooLarge(_)), "{wrong:?}");
}

#[test]
fn an_error_is_known_by_its_name_its_type_or_its_place() {
    let told = |stream: &str| match openai(stream) {
        Err((Wrong::Reported(reported), _)) => (reported.kind, reported.code, reported.message),
        other => panic!("{other:?}"),
    };
    let some = |text: &str| Some(text.to_owned());
    let anthropic =
        "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"full\"}}\n\n";
    assert_eq!(told(anthropic), (some("overloaded_error"), None, some("full")));
    let itself = "data: {\"message\":\"slow down\",\"type\":\"rate_limit_error\",\"code\":429}\n\n";
    assert_eq!(told(itself), (some("rate_limit_error"), some("429"), some("slow down")));
    assert_eq!(told("data: {\"error\":\"no such model\"}\n\n"), (None, None, some("no such model")));
}

#[test]
fn calls_of_a_stream_are_put_together() {
    let answer = openai(concat!(
        "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"add\",\"arguments\":\"{\\\"a\\\"\"}}]}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\":1}\"}}]}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"b\",\"function\":{\"name\":\"add\",\"arguments\":\"{}\"}}]}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n",
    ))
    .unwrap();
    let calls: Vec<_> = answer.calls.iter().map(|call| call.id.as_str()).collect();
    assert_eq!(calls, ["a", "b"]);
    let crate::Arguments::Object(first) = &answer.calls[0].arguments else { panic!() };
    assert_eq!(first["a"], 1);
}

#[test]
fn an_answer_that_is_not_streamed_is_read_all_the_same() {
    let whole = "{\"choices\":[{\"message\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}";
    let read = |text: &str| read(Dialect::OpenAi, "application/json; charset=utf-8", text, 5);
    assert_eq!(read(whole).unwrap().text, "Hi");
    assert_eq!(read("{\"choices\":").unwrap_err().0, Wrong::Cut);
    assert!(matches!(read("{\"error\":{\"message\":\"x\"}}").unwrap_err().0, Wrong::Reported(_)));
}

#[test]
fn an_anthropic_stream_ends_with_its_own_event() {
    let start = concat!(
        "data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":3}}}\n\n",
        "data: {\"type\":\"ping\"}\n\n",
        "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
        "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hi\"}}\n\n",
        "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":1}}\n\n",
    );
    let read = |text: &str| read(Dialect::Anthropic, EVENTS, text, 4096);
    let answer = read(&format!("{start}data: {{\"type\":\"message_stop\"}}\n\n")).unwrap();
    assert_eq!((answer.text.as_str(), answer.stop), ("Hi", StopReason::End));
    assert_eq!((answer.usage.input_tokens, answer.usage.output_tokens), (Some(3), Some(1)));
    assert_eq!(read(start), Err((Wrong::Cut, "Hi".to_owned())));
}

#[test]
fn lines_of_ollama_are_put_together_however_they_are_cut() {
    let text = concat!(
        "{\"message\":{\"role\":\"assistant\",\"content\":\"안\"},\"done\":false}\n",
        "{\"message\":{\"content\":\"녕\",\"tool_calls\":[{\"function\":{\"name\":\"add\",\"arguments\":{\"a\":1}}}]},\"done\":false}\n",
        "{\"message\":{\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\",\"prompt_eval_count\":2,\"eval_count\":3}",
    );
    for size in [1, 2, 3, 64, 4096] {
        let answer = read(Dialect::Ollama, "application/x-ndjson", text, size).unwrap();
        assert_eq!((answer.text.as_str(), answer.calls.len()), ("안녕", 1));
        assert_eq!(answer.usage.output_tokens, Some(3));
    }
}

#[test]
fn an_ollama_stream_without_its_last_line_is_incomplete() {
    let line = "{\"message\":{\"content\":\"Hi\"},\"done\":false}\n";
    assert_eq!(ollama(line), Err((Wrong::Cut, "Hi".to_owned())));
    assert_eq!(ollama(&format!("{line}{{\"message\":")), Err((Wrong::Cut, "Hi".to_owned())));
    let (wrong, partial) = ollama(&format!("{line}{{\"error\":\"runner stopped\"}}\n")).unwrap_err();
    assert!(matches!(wrong, Wrong::Reported(_)));
    assert_eq!(partial, "Hi");
}
