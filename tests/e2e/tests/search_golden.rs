//! Retrieval, judged by a set of queries that was written before any search term (`tests/golden`).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use serde_json::{Value, json};
use toolwright_e2e::{Session, Stage, structured};

struct Query {
    language: &'static str,
    required: bool,
    expect: Vec<&'static str>,
    text: &'static str,
}

fn queries() -> Vec<Query> {
    let table = include_str!("../../golden/search_queries.tsv");
    table
        .lines()
        .skip(1)
        .filter(|line| !line.trim().is_empty())
        .map(|line| {
            let columns: Vec<&str> = line.split('\t').collect();
            Query {
                language: columns[0],
                required: columns[2] == "yes",
                expect: columns[3].split('|').collect(),
                text: columns[4],
            }
        })
        .collect()
}

async fn search(session: &Session, query: &str, limit: usize) -> Vec<Value> {
    let arguments = json!({"query": query, "limit": limit, "detail": "brief"});
    let answer = structured(&session.call("search_additional_tools", arguments).await.unwrap());
    answer.get("data").unwrap_or(&answer)["matches"].as_array().unwrap_or_else(|| panic!("{query}: {answer}")).clone()
}

#[tokio::test]
async fn the_golden_set_is_found() {
    let stage = Stage::set().unwrap();
    let session = stage.session(&[]).await.unwrap();
    let queries = queries();
    assert!(queries.len() >= 120);
    let mut faults = Vec::new();
    for language in ["en", "ko", "ja"] {
        let (mut first, mut among_three, mut total) = (0, 0, 0);
        for query in queries.iter().filter(|query| query.language == language) {
            let matches = search(&session, query.text, 3).await;
            let names: Vec<&str> = matches.iter().filter_map(|found| found["name"].as_str()).collect();
            let rank = names.iter().position(|name| query.expect.contains(name));
            total += 1;
            first += usize::from(rank == Some(0));
            among_three += usize::from(rank.is_some());
            if rank != Some(0) {
                println!("{language}: {:?} gives {names:?}, expected {:?}", query.text, query.expect);
                if query.required {
                    faults.push(format!("{language}: {:?} must be first", query.text));
                }
            }
        }
        let (one, three) = (first * 100 / total, among_three * 100 / total);
        println!("{language}: top-1 {first}/{total} ({one} %), top-3 {among_three}/{total} ({three} %)");
        if one < 80 || three < 95 {
            faults.push(format!("{language}: top-1 {one} % (80 wanted), top-3 {three} % (95 wanted)"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[tokio::test]
async fn a_query_that_reads_never_puts_a_changing_tool_first() {
    let stage = Stage::set().unwrap();
    let session = stage.session(&[]).await.unwrap();
    for query in [
        "list agent jobs",
        "show traces",
        "how much vram",
        "status of a job",
        "get branding",
        "list backends",
        "모델 목록 보여줘",
        "백엔드 상태",
        "ジョブ一覧",
        "ログを見る",
    ] {
        let mut read_after_change = false;
        for found in search(&session, query, 10).await {
            let name = found["name"].as_str().unwrap();
            let Some(row) = localai_tools::TOOLS.find(name) else { continue };
            match row.risk.leaves_state() {
                false => read_after_change = true,
                true => assert!(!read_after_change, "{query}: {name} comes after a tool that changes state"),
            }
        }
    }
}

#[tokio::test]
async fn nonsense_finds_nothing() {
    let stage = Stage::set().unwrap();
    let session = stage.session(&[]).await.unwrap();
    for query in ["", "   ", "qzxv wvut"] {
        assert!(search(&session, query, 5).await.is_empty(), "{query:?}");
    }
}

#[tokio::test]
async fn an_answer_stays_small_and_carries_schemas() {
    let stage = Stage::set().unwrap();
    let session = stage.session(&[]).await.unwrap();
    let answer = structured(
        &session
            .call("search_additional_tools", json!({"query": "generate text with a model", "limit": 20}))
            .await
            .unwrap(),
    );
    assert!(answer.to_string().len() <= 10_000, "{} bytes", answer.to_string().len());
    let matches = answer.get("data").unwrap_or(&answer)["matches"].as_array().unwrap().clone();
    assert!(matches[0]["input_schema"].is_object(), "{}", matches[0]);
}

#[tokio::test]
async fn words_that_tools_share_do_not_mix_them_up() {
    let stage = Stage::set().unwrap();
    let session = stage.session(&[]).await.unwrap();
    for (query, expected) in [
        ("turn speech into text", vec!["transcribe_audio"]),
        ("what did they say in this audio file", vec!["transcribe_audio"]),
        ("compare how similar two pieces of text are", vec!["embed", "rerank"]),
    ] {
        let matches = search(&session, query, 3).await;
        let first = matches[0]["name"].as_str().unwrap();
        assert!(expected.contains(&first), "{query}: {matches:?}");
    }
}
