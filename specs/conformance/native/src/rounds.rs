//! Questions whose answers come with the next round of the call, where the protocol has rounds.

use toolwright_core::{Ability, Block, Context, Question, Reply};

use crate::{Made, forms, sample, told, written};

pub(crate) async fn greet(context: &Context) -> Made {
    let reply = context.ask("user_name", forms::one("name", "string", "What is your name?")).await?;
    let name = match &reply {
        Reply::Filled(fields) => fields.get("name").and_then(|name| name.as_str()).unwrap_or("stranger"),
        _ => "stranger",
    };
    Ok(vec![Block::text(format!("Hello, {name}!"))])
}

pub(crate) async fn three_at_once(context: &Context) -> Made {
    let questions = vec![
        ("user_name".to_owned(), forms::one("name", "string", "What is your name?")),
        ("greeting".to_owned(), sample("Generate a greeting", 50)),
        ("client_roots".to_owned(), Question::Roots),
    ];
    let replies = context.ask_all(questions).await?;
    Ok(replies.iter().map(|reply| Block::text(told(reply))).collect())
}

pub(crate) async fn one_after_the_other(context: &Context) -> Made {
    let name = context.ask("step1", forms::one("name", "string", "Step 1: What is your name?")).await?;
    let color = context.ask("step2", forms::one("color", "string", "Step 2: What is your favorite color?")).await?;
    Ok(vec![Block::text(format!("{}; {}", told(&name), told(&color)))])
}

pub(crate) async fn as_the_client_can(context: &Context) -> Made {
    if context.can(Ability::Form) {
        let reply = context.ask("name", forms::one("name", "string", "What is your name?")).await?;
        return Ok(vec![Block::text(told(&reply))]);
    }
    let reply = context.ask("name", sample("Make up a name.", 50)).await?;
    Ok(vec![Block::text(written(&reply))])
}
