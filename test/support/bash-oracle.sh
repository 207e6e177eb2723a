# What words does bash pass for a text? Started by bash-oracle.ts: bash --noprofile --norc bash-oracle.sh DIRECTORY
# ENVIRONMENT ERRORS NAME..., unprivileged, with an empty PATH. Answers requests of NUL-ended fields:
#   COUNT, then COUNT times: GLOBS (`on` or `off`), NAMES (of variables to show, separated by spaces), TEXT
# with records of NUL-ended fields:
#   begin                                     an evaluation begins
#   call KIND FLAGS COUNT WORD... COUNT VALUE...   the printer ran (KIND `known`) or bash found no such command (`unknown`)
#   end STATUS FLAGS                          it ended
#   done STATUS                               the request is answered
# A request is evaluated in one restricted subshell; whoever asks for many texts at once must distrust all of them when
# one does not answer as expected.
directory=$1 environment=$2 errors=$3
shift 3
cd -- "$directory" || exit 99
FUNCNEST=40
# A text that defines a function and calls it may start processes without end: their number is bounded too.
ulimit -c 0 -f 2048 -t 600 -u 256

describe_surroundings() {
  flags=
  [[ /proc/self/fd/0 -ef /dev/null ]] || flags+=' input'
  [[ /proc/self/fd/2 -ef $errors ]] || flags+=' errors'
}
show_call() { # KIND WORD...
  local flags kind=$1 name IFS=' '
  shift
  describe_surroundings
  if [[ $kind == known ]]; then
    ((BASHPID == evaluator)) || flags+=' process'
  else
    ((BASH_SUBSHELL == 1)) || flags+=' process'
  fi
  local values=()
  for name in $shown; do values+=("${!name-<unset>}"); done
  builtin printf '%s\0' call "$kind" "$flags" $# "$@" "${#values[@]}" ${values[@]+"${values[@]}"}
}
command_not_found_handle() {
  # In a process of its own; whatever is missing in here must not be asked about again, without end.
  unset -f command_not_found_handle
  show_call unknown "$@"
  return 9
}
for name; do
  eval "function $name { show_call known $name \"\$@\"; return 7; }"
done
# What a text may name without being a printer must not act either; these are needed below.
while read -r _ name; do
  case $name in builtin | enable | eval | exec | exit | local | printf | read | return | set | shift | shopt | unset | wait) ;; *) enable -n "$name" ;; esac
done < <(enable -a)

describe_variables() {
  local name IFS=' '
  values=
  for name in $shown; do values+="${!name-<unset>} "; done
}
evaluate() { # GLOBS NAMES TEXT
  local state values before
  builtin printf '%s\0' begin
  shown=$2
  describe_variables
  before=$values
  if [[ $1 == off ]]; then set -f; else set +f; fi
  state="$- $# $IFS $PWD $BASHOPTS"
  eval -- "$3"
  local status=$? flags
  wait
  describe_surroundings
  [[ -s $errors ]] && flags+=' complaint'
  [[ "$- $# $IFS $PWD $BASHOPTS" == "$state" ]] || flags+=' state'
  describe_variables
  [[ $values == "$before" ]] || flags+=' variable'
  builtin printf '%s\0' end "$status" "$flags"
}

while IFS= read -r -d '' count; do
  requests=()
  for ((i = 0; i < 3 * count; i++)); do
    IFS= read -r -d '' field
    requests+=("$field")
  done
  (
    evaluator=$BASHPID
    exec </dev/null 2>"$errors"
    if [[ $environment == closed ]]; then
      HOME=/closed OLDPWD=/closed/before IFS=$'ax-=\n'
      shopt -s failglob extglob dotglob globstar nocaseglob
      set -u
    else
      HOME=/open
      unset OLDPWD
    fi
    set -r
    for ((i = 0; i < 3 * count; i += 3)); do
      evaluate "${requests[i]}" "${requests[i + 1]}" "${requests[i + 2]}"
    done
    exit 0
  )
  builtin printf '%s\0' done "$?"
done
