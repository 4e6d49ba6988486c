# docker build -t throng . && docker run --rm -v "$PWD:/work" throng check models/lock.bp
FROM rust:1.95-slim-bookworm AS build
WORKDIR /throng
COPY . .
RUN cargo build --release --locked -p throng-cli

FROM debian:bookworm-slim
# C programs are read through the preprocessor.
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev && rm -rf /var/lib/apt/lists/*
COPY --from=build /throng/target/release/throng /throng/tools/ci/check-files /usr/local/bin/
WORKDIR /work
ENTRYPOINT ["throng"]
