//! Answers that come in pages: followed as far as the caller wants, and joined.

mod gathered;
mod link;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value};
use toolwright_core::{Envelope, HttpBinding, NextPage, Paginate};

use self::gathered::{Gathered, Step};
use crate::{
    context::CallContext,
    plan,
    upstream::{Expected, Upstream},
};

/// How many items a call asks for, where it does. The argument is ours and is never sent.
pub(crate) fn wanted(paginate: &Paginate, arguments: &mut Map<String, Value>) -> Option<usize> {
    arguments.remove(paginate.argument)?.as_u64().and_then(|count| usize::try_from(count).ok())
}

/// Asks for no larger page than is wanted, where the call says how large one is.
fn trim(paginate: &Paginate, wanted: usize, arguments: &mut Map<String, Value>) {
    let (NextPage::Offset { size: Some(size), .. } | NextPage::Page { size: Some(size), .. }) = paginate.next else {
        return;
    };
    if arguments.get(size).and_then(Value::as_u64).is_some_and(|asked| asked > wanted as u64) {
        arguments.insert(size.to_owned(), wanted.into());
    }
}

impl Upstream {
    /// Asks for page after page until there are enough items, none is left, or a limit is met. `data` is the last page, with
    /// the items of all.
    pub(crate) async fn follow(
        &self,
        binding: &HttpBinding,
        paginate: Paginate,
        wanted: usize,
        mut arguments: Map<String, Value>,
        expected: Expected<'_>,
        context: &CallContext,
    ) -> Envelope {
        let mut gathered = Gathered::new(paginate, wanted, self.config().max_response_bytes);
        let mut next_url = None;
        trim(&paginate, wanted, &mut arguments);
        loop {
            let mut planned = match plan::plan_http(self.config(), binding, &arguments) {
                Ok(planned) => planned,
                Err(error) => return gathered.end_with(Envelope::failure(error)),
            };
            if let Some(url) = next_url.take() {
                planned.url = url;
            }
            let url = planned.url.clone();
            let page = self.carry_out(planned, expected, context).await;
            match gathered.take(page, &url, &arguments) {
                Step::End => return gathered.into_envelope(),
                Step::Url(url) => next_url = Some(url),
                Step::Argument(name, value) => drop(arguments.insert(name.to_owned(), value)),
            }
            context.progress.say(&gathered.progress());
        }
    }
}
