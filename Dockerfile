FROM rust:1.95-bookworm AS build
# The image's own toolchain, instead of the components that rust-toolchain.toml adds for development.
ENV RUSTUP_TOOLCHAIN=1.95.0
WORKDIR /src
COPY . .
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/src/target \
    cargo build --release --locked --package flowsdk-server --features s3,otlp --bin flowsdk-server \
    && install -D target/release/flowsdk-server /out/flowsdk-server

FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --home-dir /var/lib/flowsdk --create-home flowsdk
COPY --from=build /out/flowsdk-server /usr/local/bin/flowsdk-server
USER flowsdk
WORKDIR /var/lib/flowsdk
ENV LISTEN_ADDR=0.0.0.0:8080
EXPOSE 8080
ENTRYPOINT ["flowsdk-server"]
CMD ["serve"]
