#!/usr/bin/env bash
# Proves that the lints against clocks, ambient randomness and hash order in the machines work:
# a crate that uses every name banned in clippy.toml must be rejected once for each of them.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "check-ban: $1" >&2
    exit 1
}
banned() { sed -n "/^disallowed-$1/,/^]/s/.*path = \"\([^\"]*\)\".*/\1/p" "$root/clippy.toml"; }
mapfile -t methods < <(banned methods)
mapfile -t types < <(banned types)

mkdir "$work/src"
cat >"$work/Cargo.toml" <<'TOML'
[package]
name = "banned"
version = "0.0.0"
edition = "2024"

[workspace]
TOML
{
    echo '#![allow(unused)]'
    echo '#![deny(clippy::disallowed_methods, clippy::disallowed_types)]'
    for method in "${methods[@]}"; do
        echo "pub fn banned_${method//::/_}() { let _ = $method; }"
    done
    for type in "${types[@]}"; do
        echo "pub mod banned_${type//::/_} { use $type; }"
    done
} >"$work/src/lib.rs"

log=$(CLIPPY_CONF_DIR=$root cargo clippy --quiet --offline --manifest-path "$work/Cargo.toml" 2>&1) \
    && fail "clippy let every banned name pass"
for name in "${methods[@]}" "${types[@]}"; do
    grep -qE "use of a disallowed (method|type) \`$name\`" <<<"$log" || fail "$name passed:"$'\n'"$log"
done

for crate in wire proto sim; do
    grep -A1 '^\[lints\]' "$root/crates/$crate/Cargo.toml" | grep -q '^workspace = true' \
        || fail "crates/$crate does not take the workspace's lints"
done
exceptions=$(grep -rnE 'allow\(clippy::disallowed' "$root"/crates/{wire,proto,sim}/src || true)
[ -z "$exceptions" ] || fail "an exception below the drivers:"$'\n'"$exceptions"
echo "check-ban: ${#methods[@]} methods and ${#types[@]} types are refused"
