//! Content blocks.

use toolwright_core::Block;

/// One red pixel.
pub(crate) fn pixel() -> Block {
    Block::image("image/png", include_bytes!("pixel.png"))
}

/// A hundredth of a second in which nothing is heard.
pub(crate) fn silence() -> Block {
    Block::audio("audio/wav", include_bytes!("silence.wav"))
}

/// One block of each of three kinds.
pub(crate) fn several() -> Vec<Block> {
    let json = r#"{"test":"data","value":123}"#;
    vec![
        Block::text("Multiple content types test:"),
        pixel(),
        Block::document("test://mixed-content-resource", "application/json", json),
    ]
}
