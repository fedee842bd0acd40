#!/usr/bin/env bash
# A whole client of Fairlead's gateway in bash, with curl and jq; (1) to (4) are the four rules.
# It is run as in examples/README.md. PACE: how many seconds a message takes.
set -u
export LC_ALL=C
url=$1 group=$2 client_id=$3 topic=$4 pace=${PACE:-0.1}
declare -A name epoch position stopping # what we work on, by queue: as JSON, started at, next, told
stopped="" sequence=0 # what nobody has heard yet, as JSON; it rises with every poll, over joins too (4)
until=0 leaving=false answer=$(mktemp) # the end of the lease; whether we shall end; a file
# bash 5.2 loses a trap while it reads a command or process substitution: past here nothing has one.
trap 'leaving=true' TERM INT
trap 'rm -f "$answer" "$answer".*' EXIT

# Sets now to milliseconds of a clock that nobody sets and that counts the sleep of the machine.
look() { read -r now _ </proc/uptime && now=$((10#${now/./} * 10)); }

holds() { look && ((now + 20 < until)); } # the clock steps by 10 ms

journal() { # EVENT QUEUE
  printf '{"time":%s,"event":"%s","queue":%s,"epoch":%s,"offset":%s}\n' \
    $((${EPOCHREALTIME/./} / 1000)) "$1" "${name[$2]}" "${epoch[$2]}" "${position[$2]}"
}

# Sets work to the JSON of a queue.
describe() { printf -v work '{"queue":%s,"epoch":%s,"position":%s}' "${name[$1]}" "${epoch[$1]}" "${position[$1]}"; }

end() { # EVENT QUEUE
  journal "$1" "$2"
  describe "$2" && stopped+=${stopped:+,}$work
  unset "epoch[$2]" "position[$2]" "stopping[$2]"
}

# Processes one message of each queue. It sets news if a queue has stopped.
process() {
  local queue; sleep "$pace" # YOUR WORK: read the messages at the positions and process them
  for queue in "${!epoch[@]}"; do
    holds || return # nothing comes of it (1)
    journal message "$queue" # YOUR WORK: what comes of it
    position[$queue]=$((${position[$queue]} + 1))
    if [[ ${stopping[$queue]} == true || $leaving == true ]]; then
      end stopped "$queue" # nothing is in hand any more (2)
      news=true
    fi
  done
}

# Sends a request and works until its answer is there; sets status, 0 without one.
ask() { # METHOD PATH BODY
  look && sent=$now news=false status=0
  curl -sS --max-time 5 -X "$1" --data-binary @- \
    -H "Content-Type: application/json" -H "Authorization: Bearer ${TOKEN:-}" \
    -o "$answer" -w '%{http_code}\n' "$url$2" <<<"$3" >"$answer.status" 2>/dev/null &
  while kill -0 $! 2>/dev/null; do
    process
    # A newer poll says what somebody waits for; no answer counts after the end of the lease.
    if [[ $news == true ]] || { ((until > 0)) && ! holds; }; then kill $! 2>/dev/null; fi
  done
  wait $! 2>/dev/null && read -r status <"$answer.status"
  [[ $status == 20[014] || $status == 409 || $news == true ]] || sleep 0.2 # soon another gateway answers
}

look_up() { # NAME...: sets fields to what the answer says of them
  jq -r '$ARGS.positional[] as $name | .[$name] // ""' "$answer" --args "$@" >"$answer.fields"
  mapfile -t fields <"$answer.fields"
}

obey() {
  local kind queue json its offset
  declare -A named=() starts=()
  jq -r 'to_entries[] | select(.value | type == "array") | .key as $kind | .value[] | [$kind,
    (.queue | join("/")), (.queue | tojson), (.epoch | tojson), .offset] | join("\t")' "$answer" >"$answer.words"
  while IFS=$'\t' read -r kind queue json its offset; do
    case $kind in
      stop) [[ ${epoch[$queue]-} == "$its" ]] && stopping[$queue]=true ;;
      working) named[$queue]=$its ;;
      start) starts[$queue]="$json $its $offset" ;;
    esac
  done <"$answer.words"
  for queue in "${!epoch[@]}"; do # too late: it stops at once, and says how far it came
    [[ ${named[$queue]-} == "${epoch[$queue]}" ]] || end lost "$queue"
  done
  for queue in "${!starts[@]}"; do
    [[ -z ${epoch[$queue]-} ]] || continue # a start comes again until a poll has named it
    read -r json its offset <<<"${starts[$queue]}"
    name[$queue]=$json epoch[$queue]=$its position[$queue]=$offset stopping[$queue]=false # exactly there (3)
    journal start "$queue"
  done
}

session() { # from a join to the end of its lease
  until=0; local path state said working queue was_leaving body words
  jq -nc --arg id "$client_id" --arg topic "$topic" '{client_id: $id, topics: [{topic: $topic}],
    consume_from: "first_offset", language: "shell"}' >"$answer.body" && read -r body <"$answer.body"
  ask POST "/v1/groups/$group/members" "$body"
  [[ $status == 201 ]] && look_up lease_ms session state &&
    until=$((sent + fields[0])) path=/v1/sessions/${fields[1]} state=${fields[2]}
  while holds && [[ $status != 204 ]]; do
    working="" said=$stopped was_leaving=$leaving sequence=$((sequence + 1))
    for queue in "${!epoch[@]}"; do describe "$queue" && working+=${working:+,}$work; done # (3)
    words="\"state\":\"$state\",\"sequence\":$sequence,\"stopped\":[$said]"
    if [[ $leaving == true && -z $working ]]; then
      ask DELETE "$path" "{$words}" # its last words
    else
      ask POST "$path/poll" "{$words,\"working\":[$working],\"leaving\":$leaving,\"wait_ms\":3000}"
    fi
    # An answer counts while the lease holds, and if there is nothing newer to be said (4).
    [[ $status == 200 && $news == false && $leaving == "$was_leaving" ]] && holds || continue
    look_up state lease_ms
    state=${fields[0]} until=$((sent + fields[1])) stopped=${stopped#"$said"} && stopped=${stopped#,}
    obey
  done
  for queue in "${!epoch[@]}"; do end lost "$queue"; done # the lease is over: all stops at once,
  stopped="" # and nothing is said of it (2)
  if look_up reason && [[ ${fields[0]-} == duplicate_client_id || $status == 4[0-8][0-8] ]]; then
    jq -r '"\(.detail) \(.remedy)"' "$answer" >&2
    exit 1
  fi
}

while [[ $leaving == false ]]; do session; done
