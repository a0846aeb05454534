//! What of the document does not become part of any tool, beyond what every server leaves out.

use crate::diagnostic::{Diagnostic, Sink};
use crate::ledger::{Outcome, Part, Rule};
use crate::model::Model;

pub(super) fn report(model: &Model, sink: &mut Sink) {
    for (part, pointer, outcome) in model.ledger.iter() {
        let place = || model.loaded.document.place(pointer);
        let found = match (part, outcome) {
            (Part::Body, Outcome::Dropped(Rule::OneBodyMediaType)) => Diagnostic::note(
                "other-media-type",
                "the body can be sent in this form, too, and the tool sends another",
            )
            .help("nothing to do, unless this is the form that callers need: remove the others in an overlay"),
            (Part::Parameter, Outcome::Dropped(Rule::ReservedHeader)) => Diagnostic::note(
                "reserved-header",
                "OpenAPI reserves this header: it is set by the server and is no argument",
            )
            .help("describe credentials as a security scheme, and remove the parameter"),
            (_, Outcome::Refused) => {
                Diagnostic::warning("lost", "this part of the document could not be used and is in no tool")
                    .help("another finding says why; correct it in the document or in an overlay")
            }
            _ => continue,
        };
        sink.push(found.at(place()));
    }
}
