#!/usr/bin/env bash
# Makes .venv with all Python dependencies of pyproject.toml, development ones included.
set -euo pipefail
cd "$(dirname "$0")/.."

for candidate in python3.11 python3 python3.12 python3.13 python3.14; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        python=$candidate
        break
    fi
done
: "${python:?Python 3.11 or newer is needed and was not found}"

# Debian ships venv without ensurepip until python3-venv is installed.
if ! "$python" -c 'import ensurepip' 2>/dev/null; then
    scripts/install-tools.sh "none=$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')"
fi
[ -x .venv/bin/python ] || "$python" -m venv .venv
dependencies=$("$python" - <<'PY'
import tomllib

with open("pyproject.toml", "rb") as file:
    config = tomllib.load(file)
project = config["project"]
print(*config["build-system"]["requires"], *project.get("dependencies", []), sep="\n")
print(*project.get("optional-dependencies", {}).get("dev", []), sep="\n")
print(*config.get("dependency-groups", {}).get("dev", []), sep="\n")
PY
)
mapfile -t packages <<<"$dependencies"
.venv/bin/python -m pip install --quiet --disable-pip-version-check "${packages[@]}"
