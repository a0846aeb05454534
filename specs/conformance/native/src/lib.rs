//! Handlers of the conformance server: what its tools return, and what they ask, is what the official suite looks for.

mod content;
mod forms;
mod rounds;
mod telling;

use conformance_tools::native::Handlers;
use conformance_tools::{asking, content as content_tools, rounds as rounds_tools, telling as telling_tools};
use serde_json::{Map, Value, json};
use toolwright_core::{Block, Context, Question, Reply, ToolError};

/// The handlers, as the server's binary takes them.
#[must_use]
pub fn handlers() -> impl Handlers {
    Fixtures
}

/// Nothing is kept between calls.
struct Fixtures;

type Made = Result<Vec<Block>, ToolError>;

impl Handlers for Fixtures {
    async fn test_simple_text(&self, _: content_tools::TestSimpleText, _: &Context) -> Made {
        Ok(vec![Block::text("This is a simple text response for testing.")])
    }

    async fn test_image_content(&self, _: content_tools::TestImageContent, _: &Context) -> Made {
        Ok(vec![content::pixel()])
    }

    async fn test_audio_content(&self, _: content_tools::TestAudioContent, _: &Context) -> Made {
        Ok(vec![content::silence()])
    }

    async fn test_embedded_resource(&self, _: content_tools::TestEmbeddedResource, _: &Context) -> Made {
        let text = "This is an embedded resource content.";
        Ok(vec![Block::document("test://embedded-resource", "text/plain", text)])
    }

    async fn test_multiple_content_types(&self, _: content_tools::TestMultipleContentTypes, _: &Context) -> Made {
        Ok(content::several())
    }

    async fn test_error_handling(&self, _: content_tools::TestErrorHandling, _: &Context) -> Made {
        Err(ToolError::failed("This tool intentionally returns an error for testing"))
    }

    async fn test_tool_with_progress(&self, _: telling_tools::TestToolWithProgress, context: &Context) -> Made {
        telling::progress(context).await
    }

    async fn test_tool_with_logging(&self, _: telling_tools::TestToolWithLogging, context: &Context) -> Made {
        telling::messages(context).await
    }

    async fn test_logging_tool(&self, _: telling_tools::TestLoggingTool, context: &Context) -> Made {
        telling::message(context)
    }

    async fn test_watched_change(&self, _: telling_tools::TestWatchedChange, context: &Context) -> Made {
        context.resource_changed("test://watched-resource");
        Ok(vec![Block::text("Whoever follows test://watched-resource was told.")])
    }

    async fn test_sampling(&self, input: asking::TestSampling, context: &Context) -> Made {
        let reply = context.ask("prompt", sample(&input.prompt, 100)).await?;
        Ok(vec![Block::text(format!("LLM response: {}", written(&reply)))])
    }

    async fn test_elicitation(&self, input: asking::TestElicitation, context: &Context) -> Made {
        let reply = context.ask("person", forms::name_and_address(&input.message)).await?;
        Ok(vec![Block::text(format!("User response: {}", told(&reply)))])
    }

    async fn test_elicitation_sep1034_defaults(
        &self,
        _: asking::TestElicitationSep1034Defaults,
        context: &Context,
    ) -> Made {
        let reply = context.ask("defaults", forms::defaults()).await?;
        Ok(vec![Block::text(format!("Elicitation completed: {}", told(&reply)))])
    }

    async fn test_elicitation_sep1330_enums(&self, _: asking::TestElicitationSep1330Enums, context: &Context) -> Made {
        let reply = context.ask("choices", forms::choices()).await?;
        Ok(vec![Block::text(format!("Elicitation completed: {}", told(&reply)))])
    }

    async fn test_missing_capability(&self, _: asking::TestMissingCapability, context: &Context) -> Made {
        let reply = context.ask("model", sample("Say hello.", 50)).await?;
        Ok(vec![Block::text(written(&reply))])
    }

    async fn test_streaming_elicitation(&self, _: asking::TestStreamingElicitation, context: &Context) -> Made {
        context.progress(1.0, Some(2.0), "asking");
        let reply = context.ask("person", forms::one("name", "string", "What is your name?")).await?;
        Ok(vec![Block::text(told(&reply))])
    }

    async fn test_input_required_result_elicitation(
        &self,
        _: rounds_tools::TestInputRequiredResultElicitation,
        context: &Context,
    ) -> Made {
        rounds::greet(context).await
    }

    async fn test_input_required_result_sampling(
        &self,
        _: rounds_tools::TestInputRequiredResultSampling,
        context: &Context,
    ) -> Made {
        let reply = context.ask("capital_question", sample("What is the capital of France?", 100)).await?;
        Ok(vec![Block::text(written(&reply))])
    }

    async fn test_input_required_result_list_roots(
        &self,
        _: rounds_tools::TestInputRequiredResultListRoots,
        context: &Context,
    ) -> Made {
        let reply = context.ask("client_roots", Question::Roots).await?;
        Ok(vec![Block::text(told(&reply))])
    }

    async fn test_input_required_result_request_state(
        &self,
        _: rounds_tools::TestInputRequiredResultRequestState,
        context: &Context,
    ) -> Made {
        let reply = context.ask("confirm", forms::one("ok", "boolean", "Please confirm")).await?;
        Ok(vec![Block::text(format!("state-ok: {}", told(&reply)))])
    }

    async fn test_input_required_result_multiple_inputs(
        &self,
        _: rounds_tools::TestInputRequiredResultMultipleInputs,
        context: &Context,
    ) -> Made {
        rounds::three_at_once(context).await
    }

    async fn test_input_required_result_multi_round(
        &self,
        _: rounds_tools::TestInputRequiredResultMultiRound,
        context: &Context,
    ) -> Made {
        rounds::one_after_the_other(context).await
    }

    async fn test_input_required_result_tampered_state(
        &self,
        _: rounds_tools::TestInputRequiredResultTamperedState,
        context: &Context,
    ) -> Made {
        context.confirm("Please confirm").await?;
        Ok(vec![Block::text("confirmed")])
    }

    async fn test_input_required_result_capabilities(
        &self,
        _: rounds_tools::TestInputRequiredResultCapabilities,
        context: &Context,
    ) -> Made {
        rounds::as_the_client_can(context).await
    }
}

/// A prompt for the client's model.
fn sample(prompt: &str, most_tokens: u32) -> Question {
    let message = json!({"role": "user", "content": {"type": "text", "text": prompt}});
    Question::Sample(json!({"messages": [message], "maxTokens": most_tokens}))
}

/// The text of what a model wrote.
fn written(reply: &Reply) -> String {
    let Reply::Sampled(result) = reply else { return told(reply) };
    let text = result.get("content").and_then(|content| content.get("text")).and_then(Value::as_str);
    text.map_or_else(|| told(reply), str::to_owned)
}

/// An answer in one line.
fn told(reply: &Reply) -> String {
    let (action, content) = match reply {
        Reply::Filled(content) => ("accept", Value::Object(content.clone())),
        Reply::Declined => ("decline", Value::Object(Map::new())),
        Reply::Dismissed => ("cancel", Value::Object(Map::new())),
        Reply::Sampled(result) => ("sampled", Value::Object(result.clone())),
        Reply::Roots(roots) => ("roots", Value::Array(roots.clone())),
    };
    format!("action={action}, content={content}")
}
