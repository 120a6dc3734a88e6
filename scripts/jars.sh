# Sourced by the scripts of scripts/setup that fetch jars by Maven: all that some artifacts need, into a directory of .deps, and no
# other bytes than those that are pinned.
# shellcheck shell=bash
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

MAVEN_DEPENDENCY_PLUGIN=org.apache.maven.plugins:maven-dependency-plugin:3.6.1

write_pom() {  # write_pom <name> <group:artifact:version>...
  local name=$1 artifact parts
  shift
  echo '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
  echo "<groupId>onceward</groupId><artifactId>$name</artifactId><version>1</version><dependencies>"
  for artifact in "$@"; do
    IFS=: read -ra parts <<<"$artifact"
    echo "<dependency><groupId>${parts[0]}</groupId><artifactId>${parts[1]}</artifactId><version>${parts[2]}</version></dependency>"
  done
  echo '</dependencies></project>'
}

fetch_once() {  # fetch_once <directory with pom.xml>
  mvn -B -ntp -f "$1/pom.xml" "$MAVEN_DEPENDENCY_PLUGIN:copy-dependencies" -DincludeScope=runtime \
    -DoutputDirectory="$1/jars" </dev/null >"$1/log" 2>&1
}

# Makes .deps/<name>/<version> in a scratch directory beside it. The checksum is that of the list that sha256sum makes of all
# jars, sorted by name.
fetch_jars() {  # fetch_jars <scratch> <name> <title> <version> <checksum> <group:artifact:version>...
  local scratch=$1 name=$2 what="$3 $4" into=$ONCEWARD_ROOT/.deps/$2/$4 checksum=$5 found
  shift 5
  command -v mvn >/dev/null || die "Maven (mvn) is needed to fetch $what for the tests."
  write_pom "$name" "$@" >"$scratch/pom.xml"
  fetch_once "$scratch" || fetch_once "$scratch" || {  # a registry may have a bad moment
    grep -m5 '^\[ERROR\]' "$scratch/log" >&2 || tail -5 "$scratch/log" >&2
    die "Maven cannot fetch $what; scripts/setup/$name --help says what to do without a network."
  }
  found=$(export LC_ALL=C && cd "$scratch/jars" && sha256sum -- *.jar | sha256sum | cut -d' ' -f1)
  [[ $found == "$checksum" ]] ||
    die "the jars of $what have the SHA-256 $found, which is not that of scripts/setup/$name.pin; refused."
  # It gets its name only when it is whole; another set-up may have been faster.
  mv -T "$scratch/jars" "$into" 2>/dev/null || [[ -d $into ]] || die "cannot write $into"
  say "setup: $what is in .deps/$name"
}
