//! Events that stay one line of the log each, whatever their fields hold.
//!
//! Ids of requests and messages of libraries come from clients and upstreams. With a line break in one, a client could
//! write lines of its own into the log, audit lines among them; with an escape sequence, change what a terminal shows.

use std::io::{self, Write};

use tracing::Metadata;
use tracing_subscriber::fmt::MakeWriter;

/// Makes writers that each take whole events, as the formatter writes them, with the line break at their end.
#[derive(Debug)]
pub(super) struct OneLine<M>(pub(super) M);

impl<'a, M: MakeWriter<'a>> MakeWriter<'a> for OneLine<M> {
    type Writer = Escaping<M::Writer>;

    fn make_writer(&'a self) -> Self::Writer {
        Escaping(self.0.make_writer())
    }

    fn make_writer_for(&'a self, meta: &Metadata<'_>) -> Self::Writer {
        Escaping(self.0.make_writer_for(meta))
    }
}

/// Escapes the control characters within an event.
#[derive(Debug)]
pub(super) struct Escaping<W>(W);

impl<W: Write> Write for Escaping<W> {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(event);
        let (line, end) = text.strip_suffix('\n').map_or((&*text, ""), |line| (line, "\n"));
        if line.contains(char::is_control) {
            self.0.write_all(format!("{}{end}", escaped(line)).as_bytes())?;
        } else {
            self.0.write_all(event)?;
        }
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

fn escaped(line: &str) -> String {
    let mut out = String::with_capacity(line.len() + 16);
    for character in line.chars() {
        match character.is_control() {
            true => out.extend(character.escape_default()),
            false => out.push(character),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(event: &str) -> String {
        let mut out = Vec::new();
        Escaping(&mut out).write_all(event.as_bytes()).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_field_begins_no_line_and_no_escape_sequence() {
        let event = "INFO request{id=1\r\nINFO forged \u{1b}[31m\u{9b}2J}: audit\n";
        assert_eq!(written(event), "INFO request{id=1\\r\\nINFO forged \\u{1b}[31m\\u{9b}2J}: audit\n");
    }

    #[test]
    fn what_has_no_control_characters_is_written_as_it_is() {
        assert_eq!(written("INFO 모델 \\n \"x\"\n"), "INFO 모델 \\n \"x\"\n");
    }
}
