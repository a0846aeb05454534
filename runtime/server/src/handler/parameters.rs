//! Parameters that cannot be read. The answer says what they must look like, and repeats nothing of them: they may be large, and
//! the log, which has the error, takes no payloads.

use rmcp::model::ErrorData;

/// The error for such parameters of a method.
pub(crate) fn malformed(method: &str) -> ErrorData {
    let rule = rule(method).map(|rule| format!(": {rule}")).unwrap_or_default();
    ErrorData::invalid_params(format!("the parameters of {method} are malformed{rule}"), None)
}

fn rule(method: &str) -> Option<&'static str> {
    Some(match method {
        "initialize" => {
            "`protocolVersion` must be a text, `capabilities` an object, and `clientInfo` an object with the texts `name` and \
             `version`"
        }
        "tools/call" => {
            "`name` must be a text; where they are given, `arguments` and `inputResponses` must be objects, `requestState` a \
             text, and `task` an object whose `ttl` is a whole number of milliseconds"
        }
        "prompts/get" => {
            "`name` must be a text; where they are given, `arguments` and `inputResponses` must be objects, and \
             `requestState` a text"
        }
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => "`uri` must be a text",
        "completion/complete" => {
            "`ref` must have the `type` ref/prompt and a `name`, or the `type` ref/resource and a `uri`; `argument` must have \
             the texts `name` and `value`; `context.arguments`, where it is given, must be an object of texts"
        }
        "tasks/get" | "tasks/result" | "tasks/cancel" => "`taskId` must be a text",
        "tasks/update" => "`taskId` must be a text, and `inputResponses` an object",
        "logging/setLevel" => "`level` must be debug, info, notice, warning, error, critical, alert or emergency",
        "tools/list" | "prompts/list" | "resources/list" | "resources/templates/list" | "tasks/list" => {
            "`cursor`, where it is given, must be a text"
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::{COMPLETE, FOLLOW_METHODS, METHODS, PROMPT_METHODS, RESOURCE_METHODS, SET_LEVEL, TASK_METHODS};
    use super::rule;

    #[test]
    fn every_method_with_parameters_says_what_they_must_be() {
        let methods: Vec<&str> =
            [&METHODS[..], &PROMPT_METHODS[..], &RESOURCE_METHODS[..], &FOLLOW_METHODS[..], &TASK_METHODS[..]].concat();
        for method in methods.into_iter().chain([COMPLETE, SET_LEVEL]) {
            assert!(rule(method).is_some(), "{method}");
        }
    }
}
