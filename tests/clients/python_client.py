"""The Python `mcp` client against localai-server: both transports, both protocol eras.

Settings come from the environment: SERVER (binary), SERVER_URL (the same binary serving HTTP), MOCK_URL, OUTPUT_DIR.
"""

import asyncio
import base64
import os
import sys
from pathlib import Path

from mcp import Client, MCPError, StdioServerParameters
from mcp.types import PromptReference, ResourceTemplateReference

EXPECTED_TOOLS = (Path(__file__).parent / "expected-tools.txt").read_text().split()
TOKENS = {"model": "demo-model", "tokens": [1, 42, 9001]}

passed = failed = 0


def check(name: str, holds: bool, seen: object = None) -> None:
    global passed, failed
    if holds:
        passed += 1
    else:
        failed += 1
        print(f"FAILED python {name}: {str(seen)[:2000]}")


async def lists_the_tools(client: Client, where: str) -> None:
    result = await client.list_tools()
    names = [tool.name for tool in result.tools]
    check(f"{where}: lists the 25 tools in order", names == EXPECTED_TOOLS, names)
    hinted = [tool.name for tool in result.tools if tool.annotations is None or tool.annotations.read_only_hint is None]
    check(f"{where}: every tool has hints", not hinted, hinted)


async def calls_a_listed_tool(client: Client, where: str) -> None:
    result = await client.call_tool("list_models", {})
    envelope = result.structured_content or {}
    holds = not result.is_error and envelope.get("ok") is True and envelope.get("status_code") == 200
    check(f"{where}: list_models answers", holds and "data" in envelope, result)


async def calls_a_hidden_tool(client: Client, where: str) -> None:
    arguments = {"tool_name": "detokenize", "arguments": {"request": TOKENS}}
    result = await client.call_tool("execute_additional_tool", arguments)
    data = (result.structured_content or {}).get("data") or {}
    check(f"{where}: detokenize answers through the gateway", not result.is_error and "content" in data, result)


async def saves_a_sound_and_reads_it_back(client: Client, where: str) -> None:
    result = await client.call_tool("text_to_speech", {"request": {"model": "demo-voice", "input": "안녕하세요"}})
    saved = Path((result.structured_content or {}).get("saved_path") or "/nonexistent")
    sound = saved.read_bytes() if saved.is_file() else b""
    check(f"{where}: the sound is saved as WAV", not result.is_error and sound[:4] == b"RIFF", result.structured_content)
    check(f"{where}: it lies in the output folder", saved.is_relative_to(os.environ["OUTPUT_DIR"]), saved)
    links = [block for block in result.content if block.type == "resource_link"]
    check(f"{where}: the result links it", len(links) == 1, [block.type for block in result.content])
    audio = [base64.b64decode(block.data) for block in result.content if block.type == "audio"]
    check(f"{where}: it is also an audio block", audio == [sound], [block.type for block in result.content])
    if links:
        read = await client.read_resource(str(links[0].uri))
        blobs = [base64.b64decode(getattr(content, "blob", "")) for content in read.contents]
        check(f"{where}: the resource holds the same bytes", blobs == [sound], links[0].uri)
        listed = await client.list_resources()
        uris = [str(resource.uri) for resource in listed.resources]
        check(f"{where}: the resource is listed", str(links[0].uri) in uris, uris)


async def refuses_bad_arguments(client: Client, where: str) -> None:
    arguments = {"tool_name": "detokenize", "arguments": {"request": {**TOKENS, "tokens": "many"}}}
    result = await client.call_tool("execute_additional_tool", arguments)
    envelope = result.structured_content or {}
    holds = result.is_error and envelope.get("ok") is False and envelope.get("code") == "invalid_arguments"
    told = "tokens" in str(envelope.get("validation_errors")) and "input_schema" in envelope
    check(f"{where}: bad arguments of a hidden tool are refused with help", holds and told, envelope)
    result = await client.call_tool("list_models", {"modle": "x"})
    envelope = result.structured_content or {}
    holds = result.is_error and envelope.get("code") == "invalid_arguments"
    check(f"{where}: an unknown argument of a listed tool is refused", holds, envelope)


async def offers_prompts(client: Client, where: str) -> None:
    listed = {prompt.name: prompt for prompt in (await client.list_prompts()).prompts}
    check(f"{where}: lists compare_models", "compare_models" in listed, sorted(listed))
    arguments = {"first": "gemma-3-4b-it", "second": "한국어-모델", "question": "Why {first}?"}
    result = await client.get_prompt("compare_models", arguments)
    texts = [getattr(message.content, "text", "") for message in result.messages]
    filled = len(texts) == 2 and "with the model gemma-3-4b-it and once with 한국어-모델" in texts[0]
    check(f"{where}: compare_models is filled in", filled and texts[1] == "Why {first}?", texts)
    try:
        result = await client.get_prompt("compare_models", {"first": "gemma-3-4b-it"})
    except MCPError as error:
        told = error.code == -32602 and "second" in error.message and "question" in error.message
        check(f"{where}: missing arguments are named", told, error)
    else:
        check(f"{where}: missing arguments are named", False, result)


async def offers_resources(client: Client, where: str) -> None:
    listed = [str(resource.uri) for resource in (await client.list_resources()).resources]
    check(f"{where}: lists localai://models", "localai://models" in listed, listed)
    templates = [template.uri_template for template in (await client.list_resource_templates()).resource_templates]
    check(f"{where}: lists the guide's template", "localai://guides/{topic}" in templates, templates)
    read = await client.read_resource("localai://guides/chat-inference")
    texts = [(content.mime_type, getattr(content, "text", "")) for content in read.contents]
    check(f"{where}: reads a guide", len(texts) == 1 and texts[0][0] == "text/markdown" and bool(texts[0][1]), texts)


async def completes(client: Client, where: str) -> None:
    prompt = PromptReference(type="ref/prompt", name="compare_models")
    result = await client.complete(prompt, {"name": "first", "value": "GEM"})
    check(f"{where}: completes a model", result.completion.values == ["gemma-3-4b-it"], result)
    guide = ResourceTemplateReference(type="ref/resource", uri="localai://guides/{topic}")
    result = await client.complete(guide, {"name": "topic", "value": "chat"})
    check(f"{where}: completes a topic", result.completion.values == ["chat-inference"], result)


async def an_unknown_tool_is_a_protocol_error(client: Client, where: str) -> None:
    try:
        result = await client.call_tool("no_such_tool", {})
    except MCPError as error:
        check(f"{where}: an unknown tool is -32602", error.code == -32602, error)
    else:
        check(f"{where}: an unknown tool is -32602", False, result)


async def session(server: str | StdioServerParameters, mode: str, version: str, where: str) -> None:
    async with Client(server, mode=mode, read_timeout_seconds=60) as client:
        check(f"{where}: speaks {version}", client.protocol_version == version, client.protocol_version)
        await lists_the_tools(client, where)
        await calls_a_listed_tool(client, where)
        await calls_a_hidden_tool(client, where)
        await saves_a_sound_and_reads_it_back(client, where)
        await refuses_bad_arguments(client, where)
        await offers_prompts(client, where)
        await offers_resources(client, where)
        await completes(client, where)
        await an_unknown_tool_is_a_protocol_error(client, where)


async def main() -> None:
    settings = {
        "LOCALAI_BASE_URL": os.environ["MOCK_URL"],
        "LOCALAI_MCP_OUTPUT_DIR": os.environ["OUTPUT_DIR"],
        "XDG_STATE_HOME": os.environ["XDG_STATE_HOME"],
        "XDG_CONFIG_HOME": os.environ["XDG_CONFIG_HOME"],
    }
    process = StdioServerParameters(command=os.environ["SERVER"], args=["stdio"], env=settings)
    for transport, server in [("stdio", process), ("http", os.environ["SERVER_URL"])]:
        for mode, version in [("legacy", "2025-11-25"), ("auto", "2026-07-28")]:
            where = f"{transport} {version}"
            try:
                async with asyncio.timeout(120):
                    await session(server, mode, version, where)
            except Exception as error:  # The next session is worth trying whatever ended this one.
                check(f"{where}: the session runs to its end", False, repr(error))
    print(f"python: {passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


asyncio.run(main())
