#!/usr/bin/env bash
# Install the system packages that make test needs (Debian, Ubuntu). Does nothing where they are there already.
set -euo pipefail

# what must be there        and the package that brings it
needed=(
  "chromium                  chromium"                # photographs of the pages: tests/browser/shots.py
  "fc-list                   fontconfig"              # fonts for it
  "bwrap                     bubblewrap"              # walls where only it may build them: tests/attacks
  "configurable-http-proxy   node-configurable-http-proxy"  # what JupyterHub puts before its servers: tests/browser/test_hub.py
  "postgres                  postgresql"              # the gradebook on a server: tests/slow/test_postgres.py
)

missing=()
for line in "${needed[@]}"; do
  read -r program package <<<"$line"
  case "$program" in
    chromium) command -v chromium || command -v chromium-browser || command -v google-chrome ;;
    postgres) command -v postgres || ls /usr/lib/postgresql/*/bin/postgres 2>/dev/null ;;
    *) command -v "$program" ;;
  esac >/dev/null || missing+=("$package")
done

if [ ${#missing[@]} -eq 0 ]; then
  echo "system packages: all there"
  exit 0
fi

give_up() {  # one sentence; a failure only where CI asks for everything
  echo "MISSING system packages: ${missing[*]} ($1)" >&2
  [ -z "${CI:-}" ]
  exit
}

command -v apt-get >/dev/null || give_up "no apt-get here: install them with your system's package manager"
if [ "$(id -u)" -eq 0 ]; then
  as_root=()
elif sudo -n true 2>/dev/null; then
  as_root=(sudo -n)
else
  give_up "root is needed: run sudo bash scripts/install_system_packages.sh"
fi

echo "system packages: installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq || give_up "apt-get update failed: is there a network?"
"${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null || give_up "apt-get install failed"
echo "system packages: done"
