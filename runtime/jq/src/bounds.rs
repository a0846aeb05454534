//! How large the text of a filter may be: reading one recurs over what it nests.

use crate::SyntaxError;

/// More is no filter that anybody wrote by hand.
const MAX_BYTES: usize = 64 * 1024;
/// Each of what is counted nests the filter by one level at most, so this bounds the recursion of reading and running.
const MAX_PARTS: usize = 2_000;

/// What opens something, combines two filters, or (`-`, `?`, `\`) wraps one or adds to a text.
const SIGNS: &str = "([{|,=!<>+-*/%?\\";
const WORDS: [&str; 10] = ["def", "if", "elif", "try", "label", "reduce", "foreach", "as", "and", "or"];

/// Counts without a look at where texts and comments begin, so that no odd text hides from it what the reader sees.
pub(crate) fn check(text: &str) -> Result<(), SyntaxError> {
    if text.len() > MAX_BYTES {
        return Err(SyntaxError { message: format!("it is longer than {MAX_BYTES} bytes"), offset: 0 });
    }
    let signs = text.chars().filter(|c| SIGNS.contains(*c)).count();
    let words =
        text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| WORDS.contains(word)).count();
    match signs + words > MAX_PARTS {
        true => {
            let message = format!("it has more than {MAX_PARTS} brackets, operators, escapes and keywords");
            Err(SyntaxError { message, offset: 0 })
        }
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use crate::Filter;

    fn refused(text: &str) -> String {
        Filter::compile(text).unwrap_err().message
    }

    #[test]
    fn what_nests_without_end_is_refused() {
        let parentheses = format!("{}.{}", "(".repeat(5_000), ")".repeat(5_000));
        let tries = format!("{}.", "try ".repeat(10_000));
        let texts = [parentheses, "[".repeat(20_000), "-".repeat(50_000), ".|".repeat(30_000), tries];
        for text in texts {
            assert!(refused(&text).contains("more than 2000"), "{}", &text[..10]);
        }
    }

    #[test]
    fn a_text_cannot_hide_what_follows_it() {
        let text = format!("\"\\(&\" {}", "(".repeat(5_000));
        assert!(refused(&text).contains("more than 2000"));
    }

    #[test]
    fn a_long_text_is_refused() {
        assert!(refused(&" ".repeat(70_000)).contains("longer than 65536 bytes"));
    }

    #[test]
    fn what_is_within_the_bounds_is_read() {
        let nested = format!("{}.{}", "(".repeat(1_900), ")".repeat(1_900));
        let piped = format!("{}.", ".|".repeat(1_900));
        for text in [nested, piped, format!("{}1", "-".repeat(1_900))] {
            assert!(Filter::compile(&text).is_ok(), "{}", &text[..10]);
        }
    }
}
