"""One MCP session with the server in the empty root: URL and bearer token are the arguments."""

import asyncio
import sys

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client


async def main() -> None:
    url, token = sys.argv[1:]
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60) as http:
        async with Client(streamable_http_client(url, http_client=http)) as client:
            tools = (await client.list_tools()).tools
            assert len(tools) == 25, [tool.name for tool in tools]
            models = await client.call_tool("list_models", {})
            assert not models.is_error, models
            speech = await client.call_tool("text_to_speech", {"request": {"model": "demo-voice", "input": "hello"}})
            assert not speech.is_error, speech
            assert speech.structured_content["saved_path"].startswith("/data/output/"), speech.structured_content


asyncio.run(main())
