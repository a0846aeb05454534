//! The pages so far: what is joined, what comes next, and why it ends.

use std::collections::BTreeSet;

use reqwest::Url;
use serde_json::{Map, Value};
use toolwright_core::{Code, Envelope, NextPage, Paginate, Payload};

use super::link::{self, Next};

/// Pages that one call asks for at most.
const MOST_PAGES: u32 = 100;

/// What to do after a page.
#[derive(Debug)]
pub(crate) enum Step {
    /// There is nothing more to ask for.
    End,
    /// Ask for the page at this URL.
    Url(Url),
    /// Ask again, with this argument.
    Argument(&'static str, Value),
}

/// The argument that asks for a page, and its value.
type Place = (&'static str, Value);

/// The pages so far.
#[derive(Debug)]
pub(crate) struct Gathered {
    paginate: Paginate,
    wanted: usize,
    most_bytes: u64,
    items: Vec<Value>,
    bytes: u64,
    pages: u32,
    /// How many items the last page had.
    last_page: usize,
    /// How many the page before it had.
    page_before: usize,
    /// The last page, its items taken out.
    last: Option<Envelope>,
    warnings: Vec<String>,
    elapsed_ms: f64,
    /// What asked for a page before; asking for it again would go round in circles.
    asked: BTreeSet<String>,
}

impl Gathered {
    pub(crate) fn new(paginate: Paginate, wanted: usize, most_bytes: u64) -> Self {
        Gathered {
            paginate,
            wanted,
            most_bytes,
            items: Vec::new(),
            bytes: 0,
            pages: 0,
            last_page: 0,
            page_before: 0,
            last: None,
            warnings: Vec::new(),
            elapsed_ms: 0.0,
            asked: BTreeSet::new(),
        }
    }

    /// How far it is, for people.
    pub(crate) fn progress(&self) -> String {
        format!("{} items in {} pages", self.items.len(), self.pages)
    }

    /// Takes a page, which the request at `url` with these arguments brought.
    pub(crate) fn take(&mut self, mut page: Envelope, url: &Url, arguments: &Map<String, Value>) -> Step {
        self.pages += 1;
        self.elapsed_ms += page.elapsed_ms;
        if !page.ok {
            return self.fail(page, arguments);
        }
        let Some(rows) = rows(&mut page.payload, self.paginate.items) else {
            let place = if self.paginate.items.is_empty() { "its root" } else { self.paginate.items };
            self.warn(format!("page {} has no list at {place}, so that no further one was asked for", self.pages));
            self.last.get_or_insert(page);
            return Step::End;
        };
        if self.repeats(&rows) {
            self.warn("the API gave the same page again, which was left out".to_owned());
            return Step::End;
        }
        let size = serde_json::to_vec(&rows).map_or(0, |text| text.len() as u64);
        if self.last.is_some() && self.bytes.saturating_add(size) > self.most_bytes {
            let how = self.go_on(self.here(arguments));
            self.warn(format!(
                "more pages would be larger than {} bytes, the most that is taken (setting MAX_RESPONSE_BYTES){how}",
                self.most_bytes
            ));
            return Step::End;
        }
        self.bytes = self.bytes.saturating_add(size);
        self.page_before = std::mem::replace(&mut self.last_page, rows.len());
        self.items.extend(rows);
        let next = self.next(&page, url, arguments);
        page.warnings.drain(..).for_each(|warning| self.warn(warning));
        self.last = Some(page);
        self.after(next, arguments)
    }

    /// Whether there is enough, and whether the next page may be asked for.
    fn after(&mut self, next: Option<Step>, arguments: &Map<String, Value>) -> Step {
        let surplus = self.items.len().saturating_sub(self.wanted);
        if surplus > 0 || (self.items.len() == self.wanted && next.is_some()) {
            let place = self.behind(surplus, next.as_ref(), arguments);
            self.items.truncate(self.wanted);
            let how = self.go_on(place);
            self.warn(format!("there may be more than the {} items that were wanted{how}", self.wanted));
            return Step::End;
        }
        let Some(next) = next else { return Step::End };
        if self.pages >= MOST_PAGES {
            let how = self.go_on(of_step(&next));
            self.warn(format!("{MOST_PAGES} pages are the most that one call asks for{how}"));
            return Step::End;
        }
        let name = match &next {
            Step::Url(url) => url.to_string(),
            Step::Argument(_, value) => value.to_string(),
            Step::End => return next,
        };
        if !self.asked.insert(name) {
            self.warn(
                "the API leads back to a page that was there before, and no further one was asked for".to_owned(),
            );
            return Step::End;
        }
        next
    }

    /// What asks for the page after this one; none where it is the last.
    fn next(&mut self, page: &Envelope, url: &Url, arguments: &Map<String, Value>) -> Option<Step> {
        let number = |name: &str| arguments.get(name).and_then(Value::as_u64);
        // Not by the size that was asked for: many APIs give fewer than that, and more on the next page.
        let is_short = self.last_page == 0 || self.last_page < self.page_before;
        match self.paginate.next {
            NextPage::Link => {
                let header = page.headers.iter().find(|(name, _)| name == "link")?;
                match link::next(&header.1, url) {
                    Next::At(url) => Some(Step::Url(url)),
                    Next::None => None,
                    Next::Elsewhere(origin) => {
                        self.warn(format!(
                            "there is a next page at {origin}, which is not asked, since only the API's own address is; \
                            the list may go on there"
                        ));
                        None
                    }
                }
            }
            NextPage::Cursor { answer, argument } => {
                let Payload::Data(data) = &page.payload else { return None };
                let cursor = data.pointer(answer).filter(|cursor| leads_on(cursor))?;
                Some(Step::Argument(argument, cursor.clone()))
            }
            NextPage::Offset { .. } | NextPage::Page { .. } if is_short => None,
            NextPage::Offset { argument, .. } => {
                let next = number(argument).unwrap_or(0).saturating_add(self.last_page as u64);
                Some(Step::Argument(argument, next.into()))
            }
            NextPage::Page { argument, first, .. } => {
                let next = number(argument).unwrap_or(first.into()).saturating_add(1);
                Some(Step::Argument(argument, next.into()))
            }
        }
    }

    /// Where the first item stands that is left out: behind the last page, inside it, or nowhere that can be asked for.
    fn behind(&self, surplus: usize, next: Option<&Step>, arguments: &Map<String, Value>) -> Option<Place> {
        match (self.paginate.next, surplus) {
            (_, 0) => next.and_then(of_step),
            (NextPage::Offset { argument, .. }, _) => {
                let start = arguments.get(argument).and_then(Value::as_u64).unwrap_or(0);
                let kept = self.last_page.saturating_sub(surplus) as u64;
                Some((argument, start.saturating_add(kept).into()))
            }
            _ => self.here(arguments),
        }
    }

    /// What asked for this page, where it was an argument.
    fn here(&self, arguments: &Map<String, Value>) -> Option<Place> {
        let argument = match self.paginate.next {
            NextPage::Link => return None,
            NextPage::Cursor { argument, .. } | NextPage::Offset { argument, .. } | NextPage::Page { argument, .. } => {
                argument
            }
        };
        arguments.get(argument).map(|value| (argument, value.clone()))
    }

    fn go_on(&self, place: Option<Place>) -> String {
        match place {
            Some((argument, value)) => format!("; to go on, call again with `{argument}`: {value}"),
            None => format!("; to have them, raise `{}` or ask for larger pages", self.paginate.argument),
        }
    }

    /// A page that failed ends the list; what came before is there all the same, unless nobody waits for it.
    fn fail(&mut self, page: Envelope, arguments: &Map<String, Value>) -> Step {
        let is_cancelled = page.error.as_ref().is_some_and(|error| error.code == Code::Cancelled);
        if self.last.is_none() || is_cancelled {
            self.items.clear();
            self.warnings.clear();
            self.last = Some(page);
            return Step::End;
        }
        let reason = page.error.map_or_else(|| "it has no answer".to_owned(), |error| error.message);
        let how = self.go_on(self.here(arguments));
        self.warn(format!("page {} failed, and only those before it are here: {reason}{how}", self.pages));
        Step::End
    }

    /// A page that an API repeats since it does not know the argument that asks for the next one.
    fn repeats(&self, rows: &[Value]) -> bool {
        let before = self.items.len().checked_sub(self.last_page).and_then(|start| self.items.get(start..));
        !rows.is_empty() && before == Some(rows)
    }

    fn warn(&mut self, warning: String) {
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// The joined answer, where a further page could not even be planned.
    pub(crate) fn end_with(mut self, failed: Envelope) -> Envelope {
        match self.last {
            None => failed,
            Some(_) => {
                let reason = failed.error.map_or_else(String::new, |error| error.message);
                self.warn(format!("the next page cannot be asked for: {reason}"));
                self.into_envelope()
            }
        }
    }

    /// The last page with the items of all.
    pub(crate) fn into_envelope(self) -> Envelope {
        let mut envelope = self.last.unwrap_or_default();
        if let Payload::Data(data) = &mut envelope.payload
            && let Some(list) = data.pointer_mut(self.paginate.items).filter(|list| list.is_array())
            && envelope.ok
        {
            *list = Value::Array(self.items);
        }
        envelope.warnings.extend(self.warnings);
        envelope.elapsed_ms = self.elapsed_ms;
        envelope
    }
}

/// Takes the list out of a page.
fn rows(payload: &mut Payload, items: &str) -> Option<Vec<Value>> {
    let Payload::Data(data) = payload else { return None };
    data.pointer_mut(items)?.as_array_mut().map(std::mem::take)
}

/// APIs end a list with no cursor, null, an empty text or false.
fn leads_on(cursor: &Value) -> bool {
    match cursor {
        Value::String(text) => !text.is_empty(),
        Value::Number(_) => true,
        _ => false,
    }
}

fn of_step(step: &Step) -> Option<Place> {
    match step {
        Step::Argument(name, value) => Some((name, value.clone())),
        Step::Url(_) | Step::End => None,
    }
}
