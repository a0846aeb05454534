//! Event streams, byte by byte (WHATWG HTML section 9.2.6, "Interpreting an event stream").

/// The longest event in bytes; a longer one is an error, not endless memory.
pub const LONGEST_EVENT: usize = 1024 * 1024;

/// One dispatched event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Event {
    /// The `event` field; `None` for a plain message.
    pub name: Option<String>,
    /// The `data` fields, joined by line feeds.
    pub data: String,
}

/// An event went over [`LONGEST_EVENT`].
#[derive(Debug, PartialEq, Eq)]
pub struct TooLong;

/// Turns bytes into events, however they are cut.
#[derive(Debug, Default)]
pub struct Parser {
    line: Vec<u8>,
    /// The last byte was a carriage return: a line feed behind it belongs to the same line end.
    after_return: bool,
    /// A byte order mark can only stand in front of the first line.
    past_first_line: bool,
    name: String,
    data: Option<String>,
}

impl Parser {
    /// Takes bytes, and appends the events that they complete.
    ///
    /// # Errors
    /// When an event is too long; what was complete before it is appended all the same.
    pub fn feed(&mut self, bytes: &[u8], events: &mut Vec<Event>) -> Result<(), TooLong> {
        for &byte in bytes {
            let continues_return = std::mem::take(&mut self.after_return) && byte == b'\n';
            match byte {
                b'\n' if continues_return => {}
                b'\n' | b'\r' => {
                    self.after_return = byte == b'\r';
                    events.extend(self.end_line());
                }
                other => {
                    self.line.push(other);
                    if self.line.len() + self.data.as_ref().map_or(0, String::len) > LONGEST_EVENT {
                        return Err(TooLong);
                    }
                }
            }
        }
        Ok(())
    }

    fn end_line(&mut self) -> Option<Event> {
        let bytes = std::mem::take(&mut self.line);
        // A line is decoded as a whole, so that no letter is cut in two.
        let text = String::from_utf8_lossy(&bytes);
        let line = match std::mem::replace(&mut self.past_first_line, true) {
            false => text.strip_prefix('\u{feff}').unwrap_or(&text),
            true => &text,
        };
        if line.is_empty() {
            return self.dispatch();
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            "event" => value.clone_into(&mut self.name),
            // Comments, `id`, `retry` and unknown fields: no connection is resumed here.
            _ => {}
        }
        None
    }

    fn dispatch(&mut self) -> Option<Event> {
        let name = std::mem::take(&mut self.name);
        let data = self.data.take()?;
        let name = (!name.is_empty() && name != "message").then_some(name);
        Some(Event { name, data })
    }
}
