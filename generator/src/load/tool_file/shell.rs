//! What a text for `sh -c` does with the inputs, which are variables of that shell (POSIX.1-2024, Shell Command Language).
//!
//! Outside double quotes, the value of a variable is split into words, and each is a pattern of file names. As a program, or
//! in what a shell reads as a command, it decides what runs.

use std::collections::BTreeSet;

/// What is dangerous in the use of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Hazard {
    /// Split and matched with file names.
    Unquoted,
    /// It decides which program runs.
    Program,
    /// A shell reads it as a command.
    Evaluated,
}

/// Words behind which a command begins.
const KEYWORDS: [&str; 10] = ["if", "then", "elif", "else", "while", "until", "do", "!", "{", "}"];

/// Programs whose first argument that is no option is a program.
const PREFIXES: [&str; 6] = ["exec", "command", "builtin", "env", "nohup", "time"];

/// Programs that run what some argument names.
const RUNNERS: [&str; 6] = ["xargs", "find", "timeout", "nice", "setsid", "stdbuf"];

const EVALUATORS: [&str; 4] = ["eval", ".", "source", "trap"];

const SHELLS: [&str; 6] = ["sh", "bash", "dash", "ash", "ksh", "zsh"];

/// Stands in a word for what is only known when the command runs.
const UNKNOWN: char = '\0';

/// The dangerous uses of the variables of these names, each once.
pub(super) fn hazards(text: &str, names: &[&str]) -> BTreeSet<(String, Hazard)> {
    let mut scanner = Scanner { rest: text, names, found: BTreeSet::new(), in_backticks: false, documents: Vec::new() };
    scanner.list(None);
    scanner.found
}

/// A word as far as it is known, and the inputs in it, each with whether it is quoted.
#[derive(Debug, Default)]
struct Word {
    text: String,
    uses: Vec<(String, bool)>,
}

impl Word {
    /// `NAME=..`, whose value is never split.
    fn is_assignment(&self) -> bool {
        self.text.split_once('=').is_some_and(|(name, _)| {
            name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(is_of_name)
        })
    }
}

/// How far a simple command has been read.
#[derive(Debug, Default)]
struct Command {
    program: Option<String>,
    /// Whether a shell's next word is a command.
    script_is_next: bool,
    /// Whether only arguments follow.
    is_settled: bool,
}

impl Command {
    fn is_one_of(&self, programs: &[&str]) -> bool {
        let program = self.program.as_deref().unwrap_or_default();
        programs.contains(&program.rsplit('/').next().unwrap_or_default())
    }
}

/// A here-document whose text is still to come.
struct Document {
    delimiter: String,
    /// Whether tabs before its lines are dropped.
    has_tabs: bool,
    is_literal: bool,
    is_script: bool,
}

struct Scanner<'t> {
    rest: &'t str,
    names: &'t [&'t str],
    found: BTreeSet<(String, Hazard)>,
    in_backticks: bool,
    documents: Vec<Document>,
}

impl<'t> Scanner<'t> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn advance(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let first = chars.next();
        self.rest = chars.as_str();
        first
    }

    /// Takes a text where it comes next.
    fn eat(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Takes as long as a character is one of these.
    fn take(&mut self, is_one: impl Fn(char) -> bool) -> &'t str {
        let end = self.rest.find(|c| !is_one(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    /// Commands up to a closing character, which is left, or to the end.
    fn list(&mut self, end: Option<char>) {
        let (mut command, mut cases) = (Command::default(), 0_usize);
        while let Some(c) = self.peek() {
            match c {
                _ if self.eat("\\\n") => {}
                ' ' | '\t' => {
                    self.advance();
                }
                '#' => {
                    self.take(|c| c != '\n');
                }
                '`' if self.in_backticks => return,
                ')' if end == Some(')') && cases == 0 => return,
                '\n' | ';' | '&' | '|' | ')' | '(' => {
                    self.advance();
                    command = Command::default();
                    if c == '\n' {
                        self.documents();
                    } else if c == '(' {
                        self.list(Some(')'));
                        self.eat(")");
                    }
                }
                '<' | '>' => self.redirection(&command),
                _ => {
                    let word = self.word();
                    self.judge(&mut command, &word, &mut cases);
                }
            }
        }
    }

    /// What a word is in its command.
    fn judge(&mut self, command: &mut Command, word: &Word, cases: &mut usize) {
        if command.program.is_none() {
            self.first(command, word, cases);
        } else if command.is_one_of(&["case"]) && !command.is_settled {
            command.is_settled = true;
        } else if command.is_one_of(&EVALUATORS) {
            self.report(word, Hazard::Evaluated);
        } else if command.is_one_of(&SHELLS) && !command.is_settled {
            self.of_shell(command, word);
        } else {
            if command.is_one_of(&RUNNERS) && SHELLS.iter().chain(&EVALUATORS).any(|name| *name == word.text) {
                command.program = Some(word.text.clone());
            }
            self.unquoted(word);
        }
    }

    /// A word where a program is expected.
    fn first(&mut self, command: &mut Command, word: &Word, cases: &mut usize) {
        match word.text.as_str() {
            "esac" => *cases = cases.saturating_sub(1),
            text if KEYWORDS.contains(&text) || PREFIXES.contains(&text) => {}
            text if word.is_assignment() || text.starts_with('-') && word.uses.is_empty() => {}
            text => {
                *cases += usize::from(text == "case");
                command.program = Some(text.to_owned());
                self.report(word, Hazard::Program);
            }
        }
    }

    /// `sh -c COMMAND ARGUMENT..`, or `sh FILE ARGUMENT..`.
    fn of_shell(&mut self, command: &mut Command, word: &Word) {
        if command.script_is_next {
            command.is_settled = true;
            self.report(word, Hazard::Evaluated);
        } else if word.text.starts_with(['-', '+']) && word.uses.is_empty() {
            command.script_is_next = !word.text.starts_with("--") && word.text.contains('c');
        } else {
            command.is_settled = true;
            self.report(word, Hazard::Program);
        }
    }

    fn report(&mut self, word: &Word, hazard: Hazard) {
        self.found.extend(word.uses.iter().map(|(name, _)| (name.clone(), hazard)));
    }

    fn unquoted(&mut self, word: &Word) {
        let bare = word.uses.iter().filter(|(_, is_quoted)| !is_quoted);
        self.found.extend(bare.map(|(name, _)| (name.clone(), Hazard::Unquoted)));
    }

    /// A redirection with the file behind it, or the beginning of a here-document.
    fn redirection(&mut self, command: &Command) {
        let operator = self.take(|c| "<>&|".contains(c));
        let has_tabs = operator == "<<" && self.eat("-");
        self.take(|c| c == ' ' || c == '\t');
        if operator != "<<" {
            if !self.rest.starts_with('(') {
                let file = self.word();
                self.unquoted(&file);
            }
            return;
        }
        let before = self.rest;
        let delimiter = self.word().text;
        let written = before.strip_suffix(self.rest).unwrap_or_default();
        let is_script = command.is_one_of(&SHELLS) && !command.is_settled;
        self.documents.push(Document {
            delimiter,
            has_tabs,
            is_literal: written.contains(['\'', '"', '\\']),
            is_script,
        });
    }

    /// The here-documents that begin here. Quotes are nothing special in them.
    fn documents(&mut self) {
        for document in std::mem::take(&mut self.documents) {
            let mut word = Word::default();
            while !self.rest.is_empty() {
                let line = self.rest.split('\n').next().unwrap_or_default();
                let bare = if document.has_tabs { line.trim_start_matches('\t') } else { line };
                if bare == document.delimiter || document.is_literal {
                    self.take(|c| c != '\n');
                    self.advance();
                    if bare == document.delimiter {
                        break;
                    }
                } else {
                    while self.peek().is_some() && !self.eat("\n") {
                        self.quoted(&mut word);
                    }
                }
            }
            if document.is_script {
                self.report(&word, Hazard::Evaluated);
            }
        }
    }

    fn word(&mut self) -> Word {
        let mut word = Word::default();
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' | '\n' | ';' | '&' | '|' | '(' | ')' | '<' | '>' => break,
                '`' if self.in_backticks => break,
                '\'' => {
                    self.advance();
                    word.text.push_str(self.take(|c| c != '\''));
                    self.advance();
                }
                '"' => self.double(&mut word),
                '$' => self.dollar(&mut word, false),
                _ => self.quoted(&mut word),
            }
        }
        word
    }

    fn double(&mut self, word: &mut Word) {
        self.advance();
        while self.peek().is_some_and(|c| c != '`' || !self.in_backticks) && !self.eat("\"") {
            self.quoted(word);
        }
    }

    /// One character, escape or expansion, as double quotes have them.
    fn quoted(&mut self, word: &mut Word) {
        match self.peek() {
            Some('$') => self.dollar(word, true),
            Some('`') if !self.in_backticks => {
                self.advance();
                self.in_backticks = true;
                self.list(None);
                self.in_backticks = false;
                self.eat("`");
                word.text.push(UNKNOWN);
            }
            Some('\\') => {
                self.advance();
                word.text.extend(self.advance().filter(|c| *c != '\n'));
            }
            _ => word.text.extend(self.advance()),
        }
    }

    /// What `$` begins.
    fn dollar(&mut self, word: &mut Word, is_quoted: bool) {
        self.advance();
        if self.eat("((") {
            self.arithmetic(word);
        } else if self.eat("(") {
            let outside = std::mem::replace(&mut self.in_backticks, false);
            self.list(Some(')'));
            self.in_backticks = outside;
            self.eat(")");
        } else if self.eat("{") {
            self.braces(word, is_quoted);
        } else {
            let name = self.take(is_of_name);
            self.mention(word, name, is_quoted);
        }
        word.text.push(UNKNOWN);
    }

    /// `$((..))`: what is in it is not split.
    fn arithmetic(&mut self, word: &mut Word) {
        let mut depth = 2_usize;
        while let Some(c) = self.peek().filter(|_| depth > 0) {
            match c {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            self.quoted(word);
        }
    }

    /// `${name}`, with what stands behind the name. The length of a value is a number.
    fn braces(&mut self, word: &mut Word, is_quoted: bool) {
        let is_length = self.eat("#");
        let name = self.take(is_of_name);
        if !is_length {
            self.mention(word, name, is_quoted);
        }
        while let Some(c) = self.peek().filter(|c| *c != '}') {
            match c {
                '"' => self.double(word),
                '\'' if !is_quoted => {
                    self.advance();
                    self.take(|c| c != '\'');
                    self.advance();
                }
                '$' => self.dollar(word, is_quoted),
                _ => self.quoted(word),
            }
        }
        self.advance();
    }

    fn mention(&self, word: &mut Word, name: &str, is_quoted: bool) {
        if self.names.contains(&name) {
            word.uses.push((name.to_owned(), is_quoted));
        }
    }
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_safe(text: &str) {
        assert_eq!(hazards(text, &["x"]), BTreeSet::new(), "{text}");
    }

    #[track_caller]
    fn assert_told(text: &str, hazard: Hazard) {
        assert_eq!(hazards(text, &["x"]), BTreeSet::from([("x".to_owned(), hazard)]), "{text}");
    }

    #[test]
    fn double_quotes_keep_a_value_together() {
        for text in [r#"grep -- "$x" ."#, r#"grep "a${x:-"5"}b""#, r#"cat < "$x""#, r#"echo "${y:-$x}""#] {
            assert_safe(text);
        }
        for text in ["grep $x", "grep a${x}b", r#"grep "a"$x"b""#, "cat < $x", "grep ${y:-$x}"] {
            assert_told(text, Hazard::Unquoted);
        }
    }

    #[test]
    fn single_quotes_backslashes_and_comments_hide_a_dollar() {
        for text in ["echo '$x'", r"echo \$x", r#"echo "\$x""#, "echo a # $x", "echo '\"' '$x'"] {
            assert_safe(text);
        }
        for text in ["echo a#$x", "echo 'a'$x", r"echo \\$x", "# it's\necho $x", r#"echo '"' $x"#, "echo \\\n$x"] {
            assert_told(text, Hazard::Unquoted);
        }
    }

    #[test]
    fn quotes_begin_anew_in_a_substitution() {
        assert_safe(r#"echo "$(grep "$x" .)""#);
        for text in [r#"echo "$(grep $x .)" "a""#, r#"echo "`grep $x .`""#, r#"echo "$(case a in a) ls $x;; esac)""#] {
            assert_told(text, Hazard::Unquoted);
        }
    }

    #[test]
    fn what_is_never_split_needs_no_quotes() {
        for text in ["y=$x; ls", "case $x in a) ls;; esac", "echo $(($x + 1))", "echo ${#x}"] {
            assert_safe(text);
        }
    }

    #[test]
    fn a_here_document_is_text_unless_a_shell_reads_it() {
        assert_safe("cat <<EOF\nit's $x\nEOF\nls");
        assert_safe("sh <<'EOF'\n$x\nEOF\n");
        assert_told("cat <<EOF\nit's\nEOF\nls $x", Hazard::Unquoted);
        assert_told("cat <<-EOF\n\"\n\tEOF\nls $x", Hazard::Unquoted);
        assert_told("sh <<EOF\n$x\nEOF\n", Hazard::Evaluated);
    }

    #[test]
    fn an_input_is_no_program() {
        for text in [r#""$x" a"#, r#"ls | "$x""#, r#"if "$x"; then ls; fi"#, r#"a=1 exec "$x""#, r#"sh "$x""#] {
            assert_told(text, Hazard::Program);
        }
    }

    #[test]
    fn an_input_is_no_command_of_a_shell() {
        for text in [r#"eval "ls $x""#, r#"sh -c "ls $x""#, r#"/bin/bash -ec "$x""#, r#"ls | xargs sh -c "$x""#] {
            assert_told(text, Hazard::Evaluated);
        }
        assert_safe(r#"sh -c 'ls "$1"' _ "$x""#);
    }

    #[test]
    fn a_text_that_ends_in_the_middle_is_read_to_its_end() {
        for text in ["echo \"", "echo '", "echo ${", "echo $((", "echo $(", "echo `", "cat <<", "echo \\", "$"] {
            assert_safe(text);
        }
    }
}
