#!/usr/bin/env bash
# Builds airtcpd as one static program: it needs no library of the Linux that runs it. usage: static.sh x86_64|aarch64 OUT
# For the architecture that is not this host's, it takes Debian's cross compiler, and libelf and zlib out of Debian's packages, which
# are not installed here.
set -euo pipefail
architecture=$1 out=$(realpath -m "$2")
cd "$(dirname "$(realpath "$0")")/.."
profile=${FIELD_PROFILE:-python}
target=$architecture-unknown-linux-gnu
variable=${target//-/_}

# Debian's packages of another architecture, unpacked; through a state of apt of our own.
unpack() { # FOLDER ARCHITECTURE PACKAGE ...
    local folder=$1 debian=$2 site
    shift 2
    [ ! -e "$folder/.made" ] || return 0
    rm -rf "$folder"
    mkdir -p "$folder"/apt/{lists/partial,cache/archives/partial}
    touch "$folder/apt/status"
    . /etc/os-release
    site=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' "Codename: $VERSION_CODENAME" | head -1)
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $site $VERSION_CODENAME main" >"$folder/apt/sources.list"
    local apt=(apt-get -q -o Dir::State="$folder/apt" -o Dir::State::lists="$folder/apt/lists" -o Dir::State::status="$folder/apt/status"
        -o Dir::Cache="$folder/apt/cache" -o Dir::Etc::sourcelist="$folder/apt/sources.list" -o Dir::Etc::sourceparts=/dev/null
        -o APT::Architecture="$debian" -o APT::Architectures="$debian" -o APT::Sandbox::User=root -o Acquire::Languages=none)
    "${apt[@]}" update >/dev/null
    (cd "$folder/apt" && "${apt[@]}" download "$@" >/dev/null)
    for package in "$folder"/apt/*.deb; do dpkg-deb -x "$package" "$folder"; done
    rm -rf "$folder/apt"
    touch "$folder/.made"
}

tools=
if [ "$architecture" != "$(uname -m)" ]; then
    case $architecture in
    aarch64) debian=arm64 ;;
    x86_64) debian=amd64 ;;
    *) echo "static.sh: $architecture is none of x86_64 and aarch64"; exit 2 ;;
    esac
    tools=$architecture-linux-gnu-
    scripts/install-tools.sh "${tools}gcc=gcc-${architecture//_/-}-linux-gnu" "/usr/${tools%-}/lib/libc.a=libc6-dev-$debian-cross"
    rustup target list --installed | grep -qx "$target" || rustup -q target add "$target"
    root=$PWD/target/$target/debian
    unpack "$root" $debian libelf-dev zlib1g-dev
    export "CARGO_TARGET_${variable^^}_LINKER=${tools}gcc"
    export "LIBBPF_SYS_LIBRARY_PATH_$variable=$root/usr/lib/${tools%-}"
    export "CFLAGS_$variable=-I$root/usr/include -I$root/usr/include/${tools%-}"
fi
# With a target, even this host's own, the flags are not those of what cargo runs while it builds.
export "CARGO_TARGET_${variable^^}_RUSTFLAGS=-C target-feature=+crt-static"
cargo build --profile "$profile" --target "$target" -p airtcp-live --bin airtcpd
install -D "target/$target/${profile/#dev/debug}/airtcpd" "$out"
"${tools}strip" "$out"
! readelf -d "$out" | grep NEEDED || { echo "$out is not static"; exit 1; }
scripts/install-tools.sh xz=xz-utils
echo "$out: $(stat -c %s "$out") bytes, $(xz -9c "$out" | wc -c) with xz"
