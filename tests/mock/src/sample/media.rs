//! Small valid files: WAV, PNG, GLB, and gzip framing. They are built here so that no binary file has to be kept.

/// Mono 16-bit PCM WAV of a 440 Hz tone: 0.3 seconds at 16 kHz.
pub(crate) fn wav() -> Vec<u8> {
    const RATE: u32 = 16_000;
    let samples = (0..RATE * 3 / 10).map(|n| {
        let phase = f64::from(n) * 440.0 * std::f64::consts::TAU / f64::from(RATE);
        (phase.sin() * 8_000.0) as i16
    });
    let data: Vec<u8> = samples.flat_map(i16::to_le_bytes).collect();
    let mut file = wav_header(RATE, data.len() as u32);
    file.extend(data);
    file
}

/// The 44 bytes before the samples.
fn wav_header(rate: u32, data_bytes: u32) -> Vec<u8> {
    let mut header = Vec::with_capacity(44);
    header.extend(b"RIFF");
    header.extend((36 + data_bytes).to_le_bytes());
    header.extend(b"WAVEfmt ");
    header.extend(16u32.to_le_bytes());
    header.extend(1u16.to_le_bytes());
    header.extend(1u16.to_le_bytes());
    header.extend(rate.to_le_bytes());
    header.extend((rate * 2).to_le_bytes());
    header.extend(2u16.to_le_bytes());
    header.extend(16u16.to_le_bytes());
    header.extend(b"data");
    header.extend(data_bytes.to_le_bytes());
    header
}

/// An 8 by 8 RGB image with a colour gradient.
pub(crate) fn png() -> Vec<u8> {
    const SIDE: u8 = 8;
    let mut pixels = Vec::new();
    for y in 0..SIDE {
        pixels.push(0);
        for x in 0..SIDE {
            pixels.extend([x * 32, y * 32, 128]);
        }
    }
    let mut head = Vec::new();
    head.extend(u32::from(SIDE).to_be_bytes());
    head.extend(u32::from(SIDE).to_be_bytes());
    head.extend([8, 2, 0, 0, 0]);
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    png_chunk(&mut file, b"IHDR", &head);
    png_chunk(&mut file, b"IDAT", &zlib(&pixels));
    png_chunk(&mut file, b"IEND", &[]);
    file
}

fn png_chunk(file: &mut Vec<u8>, kind: &[u8; 4], data: &[u8]) {
    file.extend((data.len() as u32).to_be_bytes());
    let checked: Vec<u8> = kind.iter().chain(data).copied().collect();
    file.extend(&checked);
    file.extend(crc32(&checked).to_be_bytes());
}

/// A binary glTF 2.0 file with one triangle.
pub(crate) fn glb() -> Vec<u8> {
    const SCENE: &str = concat!(
        r#"{"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0]}],"nodes":[{"mesh":0}],"#,
        r#""meshes":[{"primitives":[{"attributes":{"POSITION":0}}]}],"buffers":[{"byteLength":36}],"#,
        r#""bufferViews":[{"buffer":0,"byteOffset":0,"byteLength":36}],"#,
        r#""accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3","min":[0,0,0],"max":[1,1,0]}]}"#
    );
    let mut scene = SCENE.as_bytes().to_vec();
    while !scene.len().is_multiple_of(4) {
        scene.push(b' ');
    }
    let corners: [f32; 9] = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    let data: Vec<u8> = corners.into_iter().flat_map(f32::to_le_bytes).collect();
    let total = 12 + 8 + scene.len() + 8 + data.len();
    let mut file = b"glTF".to_vec();
    file.extend(2u32.to_le_bytes());
    file.extend((total as u32).to_le_bytes());
    for (kind, chunk) in [(b"JSON", scene), (b"BIN\0", data)] {
        file.extend((chunk.len() as u32).to_le_bytes());
        file.extend(kind);
        file.extend(chunk);
    }
    file
}

/// gzip (RFC 1952) around stored blocks.
pub(crate) fn gzip(data: &[u8]) -> Vec<u8> {
    let mut file = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    file.extend(stored(data));
    file.extend(crc32(data).to_le_bytes());
    file.extend((data.len() as u32).to_le_bytes());
    file
}

/// zlib (RFC 1950) around stored blocks.
fn zlib(data: &[u8]) -> Vec<u8> {
    let mut stream = vec![0x78, 0x01];
    stream.extend(stored(data));
    stream.extend(adler32(data).to_be_bytes());
    stream
}

/// Deflate (RFC 1951) without compression: the shortest correct encoder there is.
fn stored(data: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut blocks = data.chunks(usize::from(u16::MAX)).peekable();
    if blocks.peek().is_none() {
        return vec![1, 0, 0, 0xff, 0xff];
    }
    while let Some(block) = blocks.next() {
        let length = block.len() as u16;
        out.push(u8::from(blocks.peek().is_none()));
        out.extend(length.to_le_bytes());
        out.extend((!length).to_le_bytes());
        out.extend(block);
    }
    out
}

fn crc32(data: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 })
    };
    !data.iter().fold(u32::MAX, step)
}

fn adler32(data: &[u8]) -> u32 {
    let (a, b) = data.iter().fold((1u32, 0u32), |(a, b), byte| {
        let a = (a + u32::from(*byte)) % 65_521;
        (a, (b + a) % 65_521)
    });
    (b << 16) | a
}

#[cfg(test)]
mod tests {
    #![allow(clippy::indexing_slicing, clippy::unwrap_used)]
    use super::*;

    #[test]
    fn checksums_match_their_published_check_values() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(adler32(b"Wikipedia"), 0x11e6_0398);
    }

    #[test]
    fn the_wav_declares_its_own_length() {
        let file = wav();
        assert_eq!(u32::from_le_bytes(file[4..8].try_into().unwrap()) as usize, file.len() - 8);
        assert_eq!(u32::from_le_bytes(file[40..44].try_into().unwrap()) as usize, file.len() - 44);
        assert_eq!(file.len(), 44 + 4_800 * 2);
    }

    #[test]
    fn the_glb_declares_its_own_length_and_aligned_chunks() {
        let file = glb();
        assert_eq!(u32::from_le_bytes(file[8..12].try_into().unwrap()) as usize, file.len());
        let json_length = u32::from_le_bytes(file[12..16].try_into().unwrap()) as usize;
        assert_eq!(json_length % 4, 0);
        serde_json::from_slice::<serde_json::Value>(&file[20..20 + json_length]).unwrap();
    }
}
