//! Folding and cutting text into runs of one script.

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

/// The kinds of writing that are cut differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Script {
    /// Letters and digits of any script without a kind of its own.
    Letters,
    /// Korean syllables and jamo.
    Hangul,
    /// Chinese characters, here always as Japanese writes them.
    Kanji,
    /// Katakana with its prolonged sound mark.
    Katakana,
    /// Hiragana.
    Hiragana,
}

/// A stretch of one script.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Run {
    pub(super) script: Script,
    pub(super) text: String,
    /// True where nothing separates it from the run before.
    pub(super) joined: bool,
}

/// Lower case in compatibility form (NFKC): full and half width, composed and decomposed spellings become one.
pub(super) fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    if is_nfkc_quick(text.chars()) == IsNormalized::Yes {
        return text.chars().flat_map(char::to_lowercase).collect();
    }
    text.nfkc().flat_map(char::to_lowercase).collect()
}

/// The runs of folded text. Whatever is neither letter nor digit separates.
pub(super) fn runs(folded: &str) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let mut open = false;
    for character in folded.chars() {
        let Some(script) = script_of(character) else {
            open = false;
            continue;
        };
        match runs.last_mut() {
            Some(run) if open && run.script == script => run.text.push(character),
            _ => runs.push(Run { script, text: character.into(), joined: open }),
        }
        open = true;
    }
    runs
}

fn script_of(character: char) -> Option<Script> {
    match character {
        '\u{1100}'..='\u{11ff}' | '\u{3130}'..='\u{318f}' | '\u{ac00}'..='\u{d7a3}' => Some(Script::Hangul),
        '\u{3005}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' => Some(Script::Kanji),
        '\u{30a1}'..='\u{30fa}' | '\u{30fc}' => Some(Script::Katakana),
        '\u{3041}'..='\u{3096}' => Some(Script::Hiragana),
        _ if character.is_alphanumeric() => Some(Script::Letters),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> Vec<String> {
        runs(&fold(text)).into_iter().map(|run| run.text).collect()
    }

    #[test]
    fn width_case_and_composition_do_not_matter() {
        assert_eq!(cut("ＧＰＵ ﾓﾃﾞﾙ"), ["gpu", "モデル"]);
        assert_eq!(cut("\u{1106}\u{1169}\u{1103}\u{1166}\u{11af}"), ["모델"]);
    }

    #[test]
    fn a_change_of_script_ends_a_run() {
        assert_eq!(cut("3Dモデルを作る"), ["3d", "モデル", "を", "作", "る"]);
        assert_eq!(cut("VRAM을 llama-cpp"), ["vram", "을", "llama", "cpp"]);
    }
}
