// The Inspector's command line against localai-server: both transports, both protocol eras, one process a request.
// Settings come from the environment: SERVER (binary), SERVER_URL (the same binary serving HTTP), MOCK_URL, OUTPUT_DIR.

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import process from "node:process";

const { SERVER, SERVER_URL, MOCK_URL, OUTPUT_DIR, EXPECTED_TOOLS, XDG_STATE_HOME, XDG_CONFIG_HOME } = process.env;
const expectedTools = readFileSync(EXPECTED_TOOLS, "utf8").trim().split(/\s+/);
const launcher = "@modelcontextprotocol/inspector/clients/launcher/build/index.js";
const program = fileURLToPath(new URL(`./node_modules/${launcher}`, import.meta.url));

let passed = 0;
let failed = 0;

function check(name, holds, seen) {
  if (holds) {
    passed += 1;
  } else {
    failed += 1;
    console.log(`FAILED inspector ${name}: ${String(JSON.stringify(seen)).slice(0, 2000)}`);
  }
}

// Runs one request and returns the exit code, the parsed result and what went to stderr.
function inspect(transport, era, request) {
  const settings = { LOCALAI_BASE_URL: MOCK_URL, LOCALAI_MCP_OUTPUT_DIR: OUTPUT_DIR, XDG_STATE_HOME, XDG_CONFIG_HOME };
  const pairs = Object.entries(settings).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
  const options = ["--protocol-era", era, "--format", "json", "--connect-timeout", "30000", ...request];
  const target =
    transport === "http"
      ? [SERVER_URL, "--transport", "http", ...options]
      : [...pairs, ...options, "--", SERVER, "stdio"];
  const run = spawnSync(process.execPath, [program, "--cli", ...target], { encoding: "utf8", timeout: 90_000 });
  let result = null;
  try {
    result = JSON.parse(run.stdout);
  } catch {
    // The check that needs a result shows both streams.
  }
  return { status: run.status, result: result?.result ?? result, stdout: run.stdout, stderr: run.stderr };
}

function call(transport, era, tool, args) {
  const request = ["--method", "tools/call", "--tool-name", tool, "--tool-args-json", JSON.stringify(args)];
  return inspect(transport, era, request);
}

function session(transport, era) {
  const where = `${transport} ${era}`;

  const list = inspect(transport, era, ["--method", "tools/list", "--strict"]);
  const names = (list.result?.tools ?? []).map((tool) => tool.name);
  check(`${where}: lists the 25 tools in order`, names.join() === expectedTools.join(), list);
  check(`${where}: finds no fault in their schemas`, list.status === 0, list.stderr);

  const models = call(transport, era, "list_models", {});
  check(`${where}: list_models answers`, models.status === 0 && models.result?.structuredContent?.ok === true, models);

  const request = { model: "demo-model", tokens: [1, 42, 9001] };
  const hidden = call(transport, era, "execute_additional_tool", { tool_name: "detokenize", arguments: { request } });
  const content = hidden.result?.structuredContent?.data?.content;
  check(`${where}: detokenize answers through the gateway`, typeof content === "string", hidden);

  const speech = call(transport, era, "text_to_speech", { request: { model: "demo-voice", input: "hello" } });
  const link = (speech.result?.content ?? []).find((block) => block.type === "resource_link");
  check(`${where}: a sound is saved and linked`, link !== undefined, speech);
  if (link) {
    const read = inspect(transport, era, ["--method", "resources/read", "--uri", link.uri]);
    const blob = read.result?.contents?.[0]?.blob ?? "";
    check(`${where}: the resource is a WAV`, Buffer.from(blob, "base64").subarray(0, 4).toString() === "RIFF", read);
  }

  const bad = call(transport, era, "list_models", { modle: "x" });
  const refused = bad.result?.isError === true && bad.result?.structuredContent?.code === "invalid_arguments";
  check(`${where}: an unknown argument is refused`, refused, bad);
}

for (const transport of ["stdio", "http"]) {
  for (const era of ["legacy", "modern"]) {
    session(transport, era);
  }
}
console.log(`inspector: ${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
