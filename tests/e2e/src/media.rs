//! Small real files for file arguments.

use base64::{Engine as _, engine::general_purpose::STANDARD};

/// The smallest picture: one transparent pixel.
const PNG_BASE64: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// A file input for an argument of that name, as a data URI: a picture, a glTF model, or two seconds of silence.
#[must_use]
pub fn file_for(argument: &str) -> String {
    match argument {
        "image" | "mask" => format!("data:image/png;base64,{PNG_BASE64}"),
        "mesh" => format!("data:model/gltf-binary;base64,{}", STANDARD.encode(glb())),
        _ => format!("data:audio/wav;base64,{}", STANDARD.encode(wav(2))),
    }
}

/// The smallest picture, as bytes.
#[must_use]
pub fn png() -> Vec<u8> {
    STANDARD.decode(PNG_BASE64).unwrap_or_default()
}

/// Silence as 16-bit PCM at 8 kHz, one channel.
#[must_use]
pub fn wav(seconds: u32) -> Vec<u8> {
    const RATE: u32 = 8_000;
    let data = seconds * RATE * 2;
    let mut file = Vec::new();
    file.extend_from_slice(b"RIFF");
    file.extend_from_slice(&(data + 36).to_le_bytes());
    file.extend_from_slice(b"WAVEfmt ");
    file.extend_from_slice(&16_u32.to_le_bytes());
    file.extend_from_slice(&[1, 0, 1, 0]);
    file.extend_from_slice(&RATE.to_le_bytes());
    file.extend_from_slice(&(RATE * 2).to_le_bytes());
    file.extend_from_slice(&[2, 0, 16, 0]);
    file.extend_from_slice(b"data");
    file.extend_from_slice(&data.to_le_bytes());
    file.resize(file.len() + data as usize, 0);
    file
}

/// A binary glTF with an empty scene.
fn glb() -> Vec<u8> {
    let json = br#"{"asset":{"version":"2.0"}} "#;
    let mut file = Vec::new();
    file.extend_from_slice(b"glTF");
    file.extend_from_slice(&2_u32.to_le_bytes());
    file.extend_from_slice(&(20 + json.len() as u32).to_le_bytes());
    file.extend_from_slice(&(json.len() as u32).to_le_bytes());
    file.extend_from_slice(b"JSON");
    file.extend_from_slice(json);
    file
}
