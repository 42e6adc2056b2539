# Recipes for daily work; `just --list` shows them. `.ci/run` decides whether a change is accepted.

# Check formatting and lint the Rust code.
check:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets --locked -- -D warnings

# Run all tests except the integration tests.
test:
    cargo test --workspace --locked --lib
    cargo test --locked --test fuzz

# Run the integration tests whose name contains NAME (`lint::`).
test-one name:
    cargo test --locked --test it -- {{name}}

# Lint the bundled scripts, pipelines, templates and data, and run their tests.
lint:
    cargo run --locked -- lint
    cargo run --locked -- test

# Rewrite generated pages and the snapshots of tests whose name contains FILTER.
docs filter="docs::the_reference_is_generated":
    INSTA_UPDATE=always cargo test --workspace --locked -- {{filter}}

# Run a benchmark (`just bench walk`) and fail if a bound is broken.
bench name:
    ASTERISK_BENCH_GATE=1 cargo bench --bench {{name}}

# Run everything that must pass before a change is accepted.
ci:
    .ci/run

# Check a release: every test at full size, all benchmarks, all packages.
new-release:
    ASTERISK_TEST_SIZE=full .ci/run
    ASTERISK_BENCH_GATE=1 cargo bench --workspace
    packaging/build
