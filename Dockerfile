# The image holds the static server, an empty data folder and one resolver file: no shell, no libraries, no package manager.
#
#   docker build -t localai-server .
#   docker run --rm -e MCP_AUTH_TOKEN=... -p 127.0.0.1:8000:8000 --add-host host.docker.internal:host-gateway localai-server

FROM rust:1.95-bookworm AS build
WORKDIR /src
COPY . .
# Static, and random numbers by system call: a static program cannot look the function up, and would ask for /dev/urandom.
# Since 2.34 glibc resolves names without plug-ins: `files` and `dns` are part of it.
ENV RUSTFLAGS="-C target-feature=+crt-static --cfg getrandom_backend=\"linux_getrandom\""
RUN --mount=type=cache,target=/usr/local/cargo/registry --mount=type=cache,target=/src/target \
    target="$(rustc -vV | sed -n 's/^host: //p')" \
    && cargo build --release --locked --package localai-server --target "$target" \
    && install -D -m 0755 "target/$target/release/localai-server" /image/localai-server
RUN mkdir -p /image/etc /image/data/files /image/data/output \
    && echo 'hosts: files dns' > /image/etc/nsswitch.conf \
    && cp LICENSE-MIT LICENSE-APACHE THIRD-PARTY-NOTICES.md /image/ \
    && chown -R 10001:10001 /image/data

FROM scratch
COPY --from=build /image /
USER 10001:10001
ENV LOCALAI_BASE_URL=http://host.docker.internal:8080 \
    LOCALAI_MCP_FILE_ROOT=/data/files \
    LOCALAI_MCP_OUTPUT_DIR=/data/output \
    MCP_HOST=0.0.0.0 \
    MCP_PORT=8000 \
    MCP_PATH=/mcp
VOLUME ["/data"]
EXPOSE 8000
ENTRYPOINT ["/localai-server"]
# Listening on every address needs MCP_AUTH_TOKEN; without it the start is refused.
CMD ["http"]
