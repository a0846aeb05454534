// The TypeScript SDK's client against localai-server, over stdio and HTTP. It speaks 2025-11-25.
// Settings come from the environment: SERVER (binary), SERVER_URL (the same binary serving HTTP), MOCK_URL, OUTPUT_DIR.

import { readFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const { SERVER, SERVER_URL, MOCK_URL, OUTPUT_DIR, EXPECTED_TOOLS, XDG_STATE_HOME, XDG_CONFIG_HOME } = process.env;
const expectedTools = readFileSync(EXPECTED_TOOLS, "utf8").trim().split(/\s+/);
const tokens = { model: "demo-model", tokens: [1, 42, 9001] };

let passed = 0;
let failed = 0;

function check(name, holds, seen) {
  if (holds) {
    passed += 1;
  } else {
    failed += 1;
    console.log(`FAILED typescript ${name}: ${String(JSON.stringify(seen)).slice(0, 2000)}`);
  }
}

async function listsTheTools(client, where) {
  const { tools } = await client.listTools();
  const names = tools.map((tool) => tool.name);
  check(`${where}: lists the 25 tools in order`, names.join() === expectedTools.join(), names);
  const closed = tools.filter((tool) => tool.inputSchema.type === "object");
  check(`${where}: every schema is an object's`, closed.length === tools.length, names);
}

async function callsAListedTool(client, where) {
  const result = await client.callTool({ name: "list_models", arguments: {} });
  const envelope = result.structuredContent ?? {};
  check(`${where}: list_models answers`, !result.isError && envelope.ok === true && envelope.status_code === 200, result);
  const text = result.content.find((block) => block.type === "text")?.text;
  check(`${where}: the text block is the structured content`, text === JSON.stringify(envelope), result);
}

async function callsAHiddenTool(client, where) {
  const call = { tool_name: "detokenize", arguments: { request: tokens } };
  const result = await client.callTool({ name: "execute_additional_tool", arguments: call });
  const content = result.structuredContent?.data?.content;
  check(`${where}: detokenize answers through the gateway`, !result.isError && typeof content === "string", result);
}

async function savesASoundAndReadsItBack(client, where) {
  const request = { model: "demo-voice", input: "こんにちは" };
  const result = await client.callTool({ name: "text_to_speech", arguments: { request } });
  const saved = result.structuredContent?.saved_path ?? "/nonexistent";
  const inside = !path.relative(OUTPUT_DIR, saved).startsWith("..");
  check(`${where}: the sound is saved in the output folder`, !result.isError && inside, result.structuredContent);
  const sound = inside ? readFileSync(saved) : Buffer.alloc(0);
  check(`${where}: it is a WAV`, sound.subarray(0, 4).toString() === "RIFF", saved);
  const link = result.content.find((block) => block.type === "resource_link");
  check(`${where}: the result links it`, link !== undefined, result.content.map((block) => block.type));
  if (link) {
    const { contents } = await client.readResource({ uri: link.uri });
    check(`${where}: the resource holds the same bytes`, contents[0]?.blob === sound.toString("base64"), link);
    const { resources } = await client.listResources();
    check(`${where}: the resource is listed`, resources.some((resource) => resource.uri === link.uri), resources);
  }
}

async function refusesBadArguments(client, where) {
  const call = { tool_name: "detokenize", arguments: { request: { ...tokens, tokens: "many" } } };
  const result = await client.callTool({ name: "execute_additional_tool", arguments: call });
  const envelope = result.structuredContent ?? {};
  const refused = result.isError === true && envelope.ok === false && envelope.code === "invalid_arguments";
  check(`${where}: bad arguments are refused`, refused, result);
  const helpful = JSON.stringify(envelope.validation_errors ?? null).includes("tokens") && envelope.input_schema;
  check(`${where}: the refusal names the argument and shows the schema`, Boolean(helpful), envelope);
}

async function offersPrompts(client, where) {
  const { prompts } = await client.listPrompts();
  const names = prompts.map((prompt) => prompt.name);
  check(`${where}: lists compare_models`, names.includes("compare_models"), names);
  const filledIn = { first: "gemma-3-4b-it", second: "한국어-모델", question: "Why {first}?" };
  const { messages } = await client.getPrompt({ name: "compare_models", arguments: filledIn });
  const texts = messages.map((message) => message.content.text);
  const filled = texts[0].includes("with the model gemma-3-4b-it and once with 한국어-모델");
  check(`${where}: compare_models is filled in`, filled && texts[1] === "Why {first}?", texts);
  const error = await client.getPrompt({ name: "compare_models", arguments: {} }).catch((error) => error);
  const told = error.code === -32602 && ["first", "second", "question"].every((name) => error.message.includes(name));
  check(`${where}: missing arguments are named`, told, error);
}

async function offersResources(client, where) {
  const { resources } = await client.listResources();
  const uris = resources.map((resource) => resource.uri);
  check(`${where}: lists localai://models`, uris.includes("localai://models"), uris);
  const { resourceTemplates } = await client.listResourceTemplates();
  const templates = resourceTemplates.map((template) => template.uriTemplate);
  check(`${where}: lists the guide's template`, templates.includes("localai://guides/{topic}"), templates);
  const { contents } = await client.readResource({ uri: "localai://guides/chat-inference" });
  check(`${where}: reads a guide`, contents[0]?.mimeType === "text/markdown" && Boolean(contents[0].text), contents);
}

async function completes(client, where) {
  const prompt = { ref: { type: "ref/prompt", name: "compare_models" }, argument: { name: "first", value: "GEM" } };
  const model = await client.complete(prompt);
  check(`${where}: completes a model`, model.completion.values.join() === "gemma-3-4b-it", model);
  const guide = { ref: { type: "ref/resource", uri: "localai://guides/{topic}" }, argument: { name: "topic", value: "chat" } };
  const topic = await client.complete(guide);
  check(`${where}: completes a topic`, topic.completion.values.join() === "chat-inference", topic);
}

async function anUnknownToolIsAProtocolError(client, where) {
  const code = await client.callTool({ name: "no_such_tool", arguments: {} }).then(
    (result) => result,
    (error) => error.code,
  );
  check(`${where}: an unknown tool is -32602`, code === -32602, code);
}

async function session(transport, where) {
  const client = new Client({ name: "gate", version: "1.0.0" });
  await client.connect(transport);
  try {
    check(`${where}: the server has a name`, Boolean(client.getServerVersion()?.name), client.getServerVersion());
    check(`${where}: the server has instructions`, Boolean(client.getInstructions()), client.getInstructions());
    await listsTheTools(client, where);
    await callsAListedTool(client, where);
    await callsAHiddenTool(client, where);
    await savesASoundAndReadsItBack(client, where);
    await refusesBadArguments(client, where);
    await offersPrompts(client, where);
    await offersResources(client, where);
    await completes(client, where);
    await anUnknownToolIsAProtocolError(client, where);
  } finally {
    await client.close();
  }
}

const env = { LOCALAI_BASE_URL: MOCK_URL, LOCALAI_MCP_OUTPUT_DIR: OUTPUT_DIR, XDG_STATE_HOME, XDG_CONFIG_HOME };
const transports = {
  stdio: () => new StdioClientTransport({ command: SERVER, args: ["stdio"], env, stderr: "inherit" }),
  http: () => new StreamableHTTPClientTransport(new URL(SERVER_URL)),
};
for (const [where, transport] of Object.entries(transports)) {
  try {
    await session(transport(), where);
  } catch (error) {
    check(`${where}: the session runs to its end`, false, String(error.stack ?? error));
  }
}
console.log(`typescript: ${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
