//! The keys of steps and of Arazzo documents, whose words they are.

use super::{Key, Kind, METHODS, key, required};

/// A value that may hold runtime expressions, such as `$inputs.id` and `/users/{$steps.find.outputs.id}`.
pub(super) const VALUES: Kind = Kind::Map(&Kind::Any);

/// One of the `steps`.
pub(crate) const STEP: &[Key] = &[
    required("stepId", Kind::Pattern("^[A-Za-z0-9_-]+$"), "The step's name."),
    key("description", Kind::Text, "What the step is for."),
    key("tool", Kind::Text, "The tool of this server that is called."),
    key("operationId", Kind::Text, "The operation that is called, by its id in the document."),
    key("operationPath", Kind::Text, "The operation that is called, by its pointer in the document."),
    key("workflowId", Kind::Text, "Another workflow; no step can be one."),
    key("http", Kind::Keys(STEP_HTTP), "A request that no tool describes."),
    key(
        "parameters",
        Kind::Either(&[VALUES, Kind::List(&Kind::Keys(STEP_PARAMETER))]),
        "Arguments: name, value. Or a list of `{name, in, value}`.",
    ),
    key(
        "requestBody",
        Kind::Keys(STEP_BODY),
        "The body: an object whose members are arguments, or the argument that is the body.",
    ),
    key("successCriteria", CRITERIA, "What must hold for a success; by default, that the call succeeded."),
    key("outputs", VALUES, "What later steps can use: name, value."),
    key("onSuccess", Kind::List(&Kind::Keys(ACTION)), "What follows a success; by default, the next step."),
    key("onFailure", Kind::List(&Kind::Keys(ACTION)), "What follows a failure; by default, the tool fails."),
];

/// `http` of a step.
pub(crate) const STEP_HTTP: &[Key] = &[
    required("method", Kind::Words(METHODS), "The HTTP method."),
    required("path", Kind::Pattern("^/"), "The path below the base URL, with values in it: `/users/{$inputs.id}`."),
    key("query", VALUES, "Query parameters: name, value."),
    key("headers", VALUES, "Headers: name, value."),
    key("body", Kind::Any, "The JSON body."),
];

/// One of the `parameters` of a step.
pub(crate) const STEP_PARAMETER: &[Key] = &[
    required("name", Kind::Text, "The parameter's name."),
    key("in", Kind::Words(&["path", "query", "header", "cookie"]), "Where it stands."),
    required("value", Kind::Any, "Its value."),
];

/// `requestBody` of a step.
pub(crate) const STEP_BODY: &[Key] = &[
    key("contentType", Kind::Text, "Media type of the body; that of the operation is sent."),
    required("payload", Kind::Any, "The body."),
    key("replacements", Kind::Any, "Changes of the payload; none are made."),
];

const CRITERIA: Kind = Kind::List(&Kind::Either(&[Kind::Text, Kind::Keys(CRITERION)]));

/// A criterion that is no simple condition by itself.
pub(crate) const CRITERION: &[Key] = &[
    required("condition", Kind::Text, "A condition, a jq filter or a regular expression."),
    key("context", Kind::Text, "The expression whose value a filter is applied to; the body by default."),
    key("type", Kind::Any, "simple, jq or regex."),
];

/// What follows a step.
pub(crate) const ACTION: &[Key] = &[
    key("name", Kind::Text, "The action's name, for people."),
    required("type", Kind::Words(&["end", "goto", "retry"]), "What is done."),
    key("stepId", Kind::Text, "The step to go to."),
    key("workflowId", Kind::Text, "Another workflow; none can be gone to."),
    key("retryAfter", Kind::Any, "Seconds to wait, where the answer has no `Retry-After`; 1 by default."),
    key("retryLimit", Kind::Whole(10), "How often a step is repeated; once by default."),
    key("criteria", CRITERIA, "What must hold for the action."),
];

/// Keys of an Arazzo document. Other keys of theirs begin with `x-`.
pub(crate) const ARAZZO: &[Key] = &[
    required("arazzo", Kind::Text, "The version."),
    key("info", Kind::Any, "What the document is."),
    key("sourceDescriptions", Kind::Any, "The documents whose operations are called: that of the server."),
    required("workflows", Kind::List(&Kind::Keys(WORKFLOW)), "The workflows."),
    key("components", Kind::Any, "What workflows share."),
];

/// Keys of a workflow.
pub(crate) const WORKFLOW: &[Key] = &[
    required("workflowId", Kind::Text, "The workflow's name."),
    key("summary", Kind::Text, "The tool's title."),
    key("description", Kind::Text, "What the tool does."),
    key("inputs", Kind::Schema, "JSON Schema of the inputs."),
    key("dependsOn", Kind::Texts, "Other workflows; none can be depended on."),
    required("steps", Kind::List(&Kind::Keys(STEP)), "The steps."),
    key("successActions", Kind::List(&Kind::Keys(ACTION)), "What follows a success of any step."),
    key("failureActions", Kind::List(&Kind::Keys(ACTION)), "What follows a failure of any step."),
    key("outputs", VALUES, "What the tool answers."),
    key("parameters", Kind::List(&Kind::Keys(STEP_PARAMETER)), "Parameters of all steps."),
];
