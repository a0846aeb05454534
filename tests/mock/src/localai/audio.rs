//! Speech, transcription, diarization, transforms and voice profiles.

use super::chat::wants_stream;
use super::sse;
use crate::answer::Answer;
use crate::check::Call;
use crate::sample::media;
use crate::violation::{Finding, Kind};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde_json::{Value, json};
use std::time::Duration;

pub(super) fn answer(key: &str, call: &Call, pause: Duration) -> Option<Answer> {
    match key {
        "POST /tts" | "POST /v1/audio/speech" => Some(speech(&call.json()?, pause)),
        "POST /v1/sound-generation" => Some(attachment("sound.wav")),
        "POST /v1/text-to-speech/{voice-id}" => Some(voice_speech(&call.json()?)),
        "POST /v1/audio/transcriptions" => Some(transcription(call, pause)),
        "POST /v1/audio/diarization" => Some(diarization(call)),
        "POST /audio/transform" | "POST /audio/transformations" => Some(transform(call)),
        "POST /api/voice-profiles" => Some(create_profile(call)),
        "GET /api/voice-profiles/{id}/audio" => Some(Answer::bytes(200, "audio/x-wav", media::wav())),
        _ => None,
    }
}

fn attachment(name: &str) -> Answer {
    Answer::bytes(200, "audio/x-wav", media::wav())
        .with("content-disposition", format!("attachment; filename=\"{name}\""))
}

/// A streamed speech is chunked `audio/wav` without a file name.
fn speech(request: &Value, pause: Duration) -> Answer {
    if !wants_stream(request) {
        return attachment("speech.wav");
    }
    let pieces = media::wav().chunks(1_000).map(Bytes::copy_from_slice).collect();
    Answer::pieces("audio/wav", pieces, pause)
}

fn voice_speech(request: &Value) -> Answer {
    match request.get("model_id").and_then(Value::as_str) {
        None | Some("") => Answer::error(400, "Bad Request", ""),
        Some(_) => attachment("speech.wav"),
    }
}

const HEARD: [&str; 2] = ["안녕하세요,", "this is a transcription."];

fn transcription(call: &Call, pause: Duration) -> Answer {
    let text = HEARD.join(" ");
    if call.form_value("stream").as_deref() == Some("true") {
        let delta = |t: String| sse::data(&json!({"type": "transcript.text.delta", "delta": t}));
        let done = sse::data(&json!({"type": "transcript.text.done", "text": text}));
        let events = sse::tokens(&text).into_iter().map(delta).chain([done, sse::DONE.to_owned()]);
        return sse::stream(events.collect::<Vec<_>>(), pause);
    }
    match call.form_value("response_format").as_deref() {
        None | Some("" | "verbose_json") => Answer::json(200, &verbose(call)),
        Some("json") => Answer::json(200, &json!({"text": text})),
        Some("txt") => Answer::text(text),
        Some("srt") => Answer::text(format!("1\n00:00:00,000 --> 00:00:01,500\n{text}\n\n")),
        Some("vtt") => Answer::text(format!("WEBVTT\n\n00:00:00.000 --> 00:00:01.500\n{text}\n\n")),
        Some("lrc") => Answer::text(format!("[00:00.00]{text}\n")),
        Some(_) => Answer::error(400, "invalid response_format", ""),
    }
}

/// Words only when their times were asked for.
fn verbose(call: &Call) -> Value {
    let segment = |id: usize, text: &str| json!({"id": id, "start": id as f64, "end": id as f64 + 0.75, "text": text, "tokens": [1, 2], "speaker": "0"});
    let segments: Vec<Value> = HEARD.iter().enumerate().map(|(id, text)| segment(id, text)).collect();
    let asked = call.parts.iter().flatten().filter(|part| part.name.starts_with("timestamp_granularities"));
    let words: Vec<Value> = asked
        .filter(|part| part.bytes == "word")
        .flat_map(|_| [json!({"word": HEARD[0], "start": 0.0, "end": 0.75})])
        .collect();
    json!({"text": HEARD.join(" "), "language": "ko", "duration": 1.75, "segments": segments, "words": words})
}

fn diarization(call: &Call) -> Answer {
    match call.form_value("response_format").as_deref() {
        Some("rttm") => Answer::text("SPEAKER audio 1 0.000 0.750 <NA> <NA> SPEAKER_00 <NA> <NA>\n"),
        format => {
            let with_text =
                format == Some("verbose_json") || call.form_value("include_text").as_deref() == Some("true");
            let text = if with_text { HEARD[0] } else { "" };
            Answer::json(
                200,
                &json!({
                    "task": "diarize", "duration": 1.75, "language": "ko", "num_speakers": 1,
                    "segments": [{"id": 0, "speaker": "SPEAKER_00", "label": "0", "start": 0.0, "end": 0.75, "text": text}],
                    "speakers": [{"id": "SPEAKER_00", "label": "0", "total_speech_duration": 0.75, "segment_count": 1}],
                }),
            )
        }
    }
}

fn transform(call: &Call) -> Answer {
    let answer = attachment("transformed.wav")
        .with("x-audio-input-url", "/generated-audio/input.wav")
        .with("x-audio-stems", r#"[{"name":"vocals","url":"/generated-audio/vocals.wav"}]"#);
    let has_reference = call.parts.iter().flatten().any(|part| part.name == "reference");
    if has_reference { answer.with("x-audio-reference-url", "/generated-audio/reference.wav") } else { answer }
}

/// The fields of a new voice profile, from the form or from JSON.
struct NewProfile {
    name: String,
    transcript: String,
    language: String,
    consent: bool,
    audio: Vec<u8>,
}

fn new_profile(call: &Call) -> NewProfile {
    let json = call.json().filter(|_| call.media_type().as_deref() == Some("application/json"));
    let text = |name: &str| match &json {
        Some(body) => body.get(name).and_then(Value::as_str).unwrap_or("").to_owned(),
        None => call.form_value(name).unwrap_or_default(),
    };
    let audio = match &json {
        Some(_) => STANDARD.decode(text("audio_base64")).unwrap_or_default(),
        None => call
            .parts
            .iter()
            .flatten()
            .find(|part| part.name == "audio")
            .map(|part| part.bytes.to_vec())
            .unwrap_or_default(),
    };
    let consent = match &json {
        Some(body) => body.get("consent_confirmed") == Some(&Value::Bool(true)),
        None => text("consent_confirmed") == "true",
    };
    NewProfile { name: text("name"), transcript: text("transcript"), language: text("language"), consent, audio }
}

/// Why the server refuses a profile, if it does.
fn refused(profile: &NewProfile) -> Option<&'static str> {
    if profile.name.is_empty() || profile.transcript.is_empty() {
        return Some("name and transcript are required");
    }
    if !profile.consent {
        return Some("consent must be confirmed");
    }
    match wav_milliseconds(&profile.audio) {
        None => Some("audio must be a 16-bit PCM WAV file"),
        Some(ms) if !(1_000..=120_000).contains(&ms) => Some("audio must last between 1 and 120 seconds"),
        Some(_) => None,
    }
}

fn create_profile(call: &Call) -> Answer {
    let profile = new_profile(call);
    if let Some(why) = refused(&profile) {
        return Answer::error(400, why, "invalid_request_error");
    }
    Answer::json(
        201,
        &json!({
            "id": "vp_1", "name": profile.name, "description": "", "language": profile.language,
            "transcript": profile.transcript, "voice": "profile:vp_1", "consent_confirmed_at": "2026-01-02T03:04:05Z",
            "created_at": "2026-01-02T03:04:05Z", "updated_at": "2026-01-02T03:04:05Z",
            "audio": {"mime_type": "audio/wav", "size_bytes": profile.audio.len(), "sample_rate": 16_000, "channels": 1, "bit_depth": 16,
                "duration_ms": wav_milliseconds(&profile.audio)},
        }),
    )
}

/// The rules for audio that no schema can say.
pub(super) fn examine(key: &str, call: &Call) -> Vec<Finding> {
    match key {
        "POST /api/voice-profiles" if !call.body.is_empty() => refused(&new_profile(call))
            .map(|why| Finding::new(Kind::BadValue, "voice profile", why))
            .into_iter()
            .collect(),
        _ => Vec::new(),
    }
}

/// The length of a 16-bit PCM WAV file; `None` for anything else.
fn wav_milliseconds(file: &[u8]) -> Option<u64> {
    let number = |at: usize, size: usize| -> Option<u64> {
        let bytes = file.get(at..at + size)?;
        Some(bytes.iter().rev().fold(0, |sum, byte| (sum << 8) | u64::from(*byte)))
    };
    if file.get(..4)? != b"RIFF" || file.get(8..12)? != b"WAVE" {
        return None;
    }
    let mut at = 12;
    let mut bytes_per_second = None;
    loop {
        let size = number(at + 4, 4)?;
        match file.get(at..at + 4)? {
            b"fmt " if number(at + 8, 2)? == 1 && number(at + 22, 2)? == 16 => {
                bytes_per_second = Some(number(at + 16, 4)?)
            }
            b"fmt " => return None,
            b"data" => {
                let present = (file.len() as u64).saturating_sub(at as u64 + 8).min(size);
                return (present * 1_000).checked_div(bytes_per_second?);
            }
            _ => {}
        }
        at = at.checked_add(8)?.checked_add(usize::try_from(size + size % 2).ok()?)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_of_a_wav_is_read_from_its_chunks() {
        assert_eq!(wav_milliseconds(&media::wav()), Some(300));
        assert_eq!(wav_milliseconds(b"RIFF"), None);
        assert_eq!(wav_milliseconds(&media::png()), None);
    }
}
