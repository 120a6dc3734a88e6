# Sourced by the services that can be clusters. A node is a directory DIR/1, DIR/2, ... with its pid and its log, and is started,
# stopped and killed by itself. Node n has the ten ports from PORT + 10 (n - 1) on.
#
# The service gives: title, ready_line (of its log), patience_seconds (after which a stop becomes a kill), url, environment,
# node_ports, before_nodes, make_node, launch_node, may_start_together, after_nodes (when none runs any more), and its own verbs
# in other_verb.
# shellcheck shell=bash

read_arguments() {
  verb=${1:-} dir=${2:-}
  port='' count='' only='' how='' settings=() rest=() throughput=''
  [[ -n $verb && -n $dir ]] || usage_error "needs a verb and a directory"
  [[ $dir == /* ]] || dir=$PWD/$dir
  shift 2
  if [[ $verb == start && -n ${1:-} && $1 != --* ]]; then
    port=$1
    shift
  fi
  while (($#)); do
    case $1 in
      --nodes) count=${2:?--nodes needs a number}; shift 2 ;;
      --node) only=${2:?--node needs a number}; shift 2 ;;
      --set) settings+=("${2:?--set needs NAME=VALUE}"); shift 2 ;;
      --throughput) throughput=1; shift ;;
      --kill) how=--kill; shift ;;
      *) break ;;
    esac
  done
  rest=("$@")
  [[ ${#rest[@]} == 0 || $verb == tool ]] || usage_error "unknown option ${rest[0]}"
}

remembered() { cat "$dir/$1" 2>/dev/null || true; }
port_of() { echo $(($(remembered port) + 10 * ($1 - 1))); }
pid_of() { remembered "$1/pid"; }

# By its environment: a zombie has none, and a pid that was given to another program since has another one.
running() {
  local pid
  pid=$(pid_of "$1")
  [[ -n $pid ]] && grep -qzxF "ONCEWARD_SERVER=$dir/$1" "/proc/$pid/environ" 2>/dev/null
}
all_running() { local node && for node in "${nodes[@]}"; do running "$node" || return 1; done; }
none_running() { local node && for node in "${nodes[@]}"; do ! running "$node" || return 1; done; }

choose_nodes() {
  count=${count:-$(remembered count)}
  [[ ${count:=1} =~ ^[1-9]$ ]] || usage_error "not a number of nodes: $count"
  mapfile -t nodes < <(seq "$count")
  if [[ -z $only ]]; then return; fi
  [[ " ${nodes[*]} " == *" $only "* ]] || usage_error "there is no node $only of $count"
  nodes=("$only")
}

# What a restart must know again.
remember() {
  local before
  mkdir -p "$dir"
  before=$(remembered count)
  [[ -z $before || $before == "$count" ]] || die "$dir holds $before node(s), not $count"
  before=$(remembered port)
  [[ $port != any ]] || port=${before:-$(free_port $((count * 10)))}
  port=${port:-$before}
  [[ $port =~ ^[0-9]+$ ]] || usage_error "start needs a port, or any"
  if [[ -n $before && $before != "$port" ]]; then
    mapfile -t nodes < <(seq "$count")
    none_running || die "a server runs in $dir, but not on port $port"
    choose_nodes
  fi
  echo "$port" >"$dir/port"
  echo "$count" >"$dir/count"
  [[ ${#settings[@]} == 0 ]] || printf '%s\n' "${settings[@]}" >"$dir/settings"
}

# The pid is that of the server: setsid, env and the server's own scripts all replace themselves.
launch() {  # launch <node> <command...>
  local home=$dir/$1
  shift
  [[ ! -e $home/log ]] || mv "$home/log" "$home/log.before"
  cd "$home" || exit 1
  ONCEWARD_SERVER=$home setsid "$@" </dev/null >"$home/log" 2>&1 &
  echo $! >"$home/pid"
}

refuse_taken_ports() {
  local port
  for port in $(node_ports "$1"); do
    if listens "$port"; then die "port $port is taken"; fi
  done
}

# Both write pages when they fail: the first lines that complain, and the end.
summary() { { grep -m 8 -iE "error|exception|failed" "$1" || true; echo ... && tail -n 4 "$1"; } | cut -c 1-300; }

failed() {  # failed <node> <what it did>
  say "$title $2; the log is $dir/$1/log:"
  summary "$dir/$1/log" >&2
  how=--kill
  stop_nodes
  exit 1
}

await_ready() {
  local node pid
  settled() { ! kill -0 "$pid" 2>/dev/null || grep -qsF "$ready_line" "$dir/$1/log"; }
  for node in "$@"; do
    pid=$(pid_of "$node")
    await 120 settled "$node" || failed "$node" "is not ready after 120 s"
    running "$node" || failed "$node" "has ended"
  done
}

start_together() {
  local node
  for node in "$@"; do launch_node "$node"; done
  await_ready "$@"
}

start_nodes() {
  local node missing=()
  remember
  for node in "${nodes[@]}"; do
    if running "$node"; then continue; fi
    refuse_taken_ports "$node"
    missing+=("$node")
  done
  ((${#missing[@]})) || return 0
  nodes=("${missing[@]}")
  before_nodes
  for node in "${missing[@]}"; do
    mkdir -p "$dir/$node"
    make_node "$node"
  done
  if ! may_start_together; then
    start_together 1
    missing=("${missing[@]:1}")
  fi
  start_together "${missing[@]}"
}

# The ports of a process that is dying close later than its environment goes.
all_closed() { none_running && local port && for port in "$@"; do ! listens "$port" || return 1; done; }

kill_rest() {
  local node
  for node in "${nodes[@]}"; do
    if running "$node"; then kill -KILL "$(pid_of "$node")"; fi
  done
}

stop_nodes() {
  local node signal=TERM ports=()
  [[ $how != --kill ]] || signal=KILL
  for node in "${nodes[@]}"; do
    if ! running "$node"; then continue; fi
    kill -"$signal" "$(pid_of "$node")" 2>/dev/null || true
    mapfile -t -O ${#ports[@]} ports < <(node_ports "$node")
  done
  await "$patience_seconds" all_closed "${ports[@]}" || kill_rest
  await 30 all_closed "${ports[@]}" || die "$title does not end; see $dir/*/log"
  mapfile -t nodes < <(seq "$count")
  if none_running; then after_nodes; fi
}

print_settings() { [[ ! -e $dir/settings ]] || sed "s/=/ = /" "$dir/settings"; }
print_urls() { local node && for node in "${nodes[@]}"; do url "$node"; done; }

serve() {
  choose_nodes
  case $verb in
    start) start_nodes ;;
    stop) stop_nodes ;;
    restart)
      stop_nodes
      choose_nodes
      start_nodes
      ;;
    status)
      all_running || exit 3
      print_urls
      ;;
    env)
      all_running || exit 3
      environment
      ;;
    pid)
      all_running || exit 3
      for node in "${nodes[@]}"; do pid_of "$node"; done
      ;;
    *) other_verb ;;
  esac
}
