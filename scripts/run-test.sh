#!/usr/bin/env bash
# Runs the tests of one crate for `make test-rust`: cargo starts it in the crate's folder. Crates of the lab only compute, and leave
# the processors to tests in real time.
case $PWD in
    */crates/kernel* | */crates/live) exec "$@" ;;
    *) exec ${WHEN_IDLE:-} "$@" ;;
esac
