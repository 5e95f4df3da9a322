#!/bin/sh
# Brings varlinkctl 257 of Debian 13 into a directory, without installing anything: varlinkctl.sh DIRECTORY
#
# Debian 12 has no varlinkctl, and the packages of 13 want a newer libc. So they are fetched with an apt of their own
# (its lists and its cache below DIRECTORY), unpacked aside, and run by *their* dynamic linker. Prints the path of the
# program to run. Ends with 1 and the reason on stderr where the packages are not to be had.
set -eu

directory=$1
mirror=${APPGROUP_TEST_DEBIAN_MIRROR:-http://deb.debian.org/debian}
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
packages="systemd libsystemd-shared libsystemd0 libc6 libgcc-s1 libcap2 libcrypt1 libmount1 libblkid1 libselinux1
    libpcre2-8-0 libseccomp2 libacl1 libaudit1 libcap-ng0 libpam0g libkmod2 libssl3t64 libzstd1 liblz4-1 liblzma5 zlib1g"

fail() {
    printf 'varlinkctl.sh: %s\n' "$*" >&2
    exit 1
}

command -v apt-get >/dev/null || fail "there is no apt-get"
command -v dpkg >/dev/null || fail "there is no dpkg"
[ -r "$keyring" ] || fail "there is no $keyring"

architecture=$(dpkg --print-architecture)
mkdir -p "$directory/lists/partial" "$directory/archives/partial" "$directory/root"
echo "deb [signed-by=$keyring] $mirror trixie main" >"$directory/sources.list"
: >"$directory/status"
cat >"$directory/apt.conf" <<END
Dir::Etc::SourceList "$directory/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::State::Lists "$directory/lists";
Dir::State::Status "$directory/status";
Dir::Cache "$directory";
Dir::Cache::Archives "$directory/archives";
APT::Sandbox::User "";
APT::Architecture "$architecture";
Acquire::Languages "none";
Acquire::http::Timeout "30";
Acquire::Retries "1";
END

cd "$directory/archives"
{
    APT_CONFIG="$directory/apt.conf" apt-get update -q -o APT::Update::Error-Mode=any &&
        # $packages is a list of words.
        # shellcheck disable=SC2086
        APT_CONFIG="$directory/apt.conf" apt-get download -q $packages
} >"$directory/log" 2>&1 || fail "apt-get cannot bring Debian 13's packages: $(grep -E '^(E|W|Err)' "$directory/log" | tail -n 3)"
for package in *.deb; do dpkg -x "$package" "$directory/root"; done

linker=$(find "$directory/root" -name 'ld-linux*.so.*' | head -n 1)
libraries=$(dirname "$(find "$directory/root" -name 'libc.so.6' | head -n 1)")
[ -n "$linker" ] && [ -x "$directory/root/usr/bin/varlinkctl" ] || fail "the packages hold no varlinkctl"
cat >"$directory/varlinkctl" <<END
#!/bin/sh
exec '$linker' --library-path '$libraries:$libraries/systemd' '$directory/root/usr/bin/varlinkctl' "\$@"
END
chmod +x "$directory/varlinkctl"
"$directory/varlinkctl" --version >>"$directory/log" 2>&1 || fail "it does not run: $(tail -n 1 "$directory/log")"
printf '%s\n' "$directory/varlinkctl"
