# Sourced by the scripts: where we are, and the few things that all of them do the same way.
# shellcheck shell=bash
set -euo pipefail
ONCEWARD_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf '%s\n' "$*" >&2; }
die() { say "${0##*/}: $*"; exit 1; }
usage_error() { say "${0##*/}: $*"; say "Try ${0##*/} --help"; exit 2; }

# Prints the leading comment of the calling script, which is its --help, and exits if the first argument asks for it.
help_if_asked() {
  if [[ ${1:-} == --help || ${1:-} == -h ]]; then
    sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"
    exit 0
  fi
}

# A zombie answers `kill -0`, and a pid may have been given to another program since.
alive() {  # alive <pid> <program>
  local state name
  [[ -n ${1:-} && -r /proc/$1/status ]] || return 1
  state=$(awk '/^State:/ {print $2}' "/proc/$1/status" 2>/dev/null) || return 1
  name=$(awk '/^Name:/ {print $2}' "/proc/$1/status" 2>/dev/null) || return 1
  [[ $state != Z && $state != X && -n $state && $name == "$2"* ]]
}

await() {  # await <seconds> <command...>: polls until the command succeeds
  local deadline=$((SECONDS + $1))
  shift
  until "$@"; do
    ((SECONDS < deadline)) || return 1
    sleep 0.05
  done
}

listens() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# The first of some ports on loopback that nobody listens on, below the ephemeral range so that no client connection takes them
# meanwhile.
free_port() {  # free_port [how many]
  local first port
  for _ in {1..200}; do
    first=$((20000 + 10 * (RANDOM % 1200)))
    for ((port = first; port < first + ${1:-1}; ++port)); do
      if listens "$port"; then continue 2; fi
    done
    echo "$first"
    return
  done
  die "no free port between 20000 and 32000"
}

# PostgreSQL and PgBouncer refuse root; then they run as the user postgres.
unprivileged() {
  if ((EUID == 0)); then setpriv --reuid=postgres --regid=postgres --init-groups "$@"; else "$@"; fi
}

postgres_bin() {
  local newest
  newest=$(find /usr/lib/postgresql -maxdepth 2 -name bin 2>/dev/null | sort -V | tail -1)
  [[ -n $newest ]] || die "no PostgreSQL under /usr/lib/postgresql; ./run setup installs it"
  echo "$newest"
}

# Makes a server's directory and hands it to the user the server runs as.
own_directory() {
  mkdir -p "$1"
  if ((EUID == 0)); then
    chown postgres: "$1"
    unprivileged test -x "$1" || die "the user postgres cannot reach $1: its parents must be searchable (chmod o+x)"
  fi
}
