# What does bash pass to the programs of a compound text, and what does it connect them with? Started by
# compound-oracle.ts: bash --noprofile --norc compound-oracle.sh DIRECTORY ENVIRONMENT OUT ERRORS NAME..., unprivileged,
# with a PATH that holds the printer under every NAME and nothing else. Answers requests of NUL-ended fields:
#   COUNT, then COUNT times: FORM (`eval`: in a subshell; `process`: a `bash -c` of its own), GLOBS (`on` or `off`),
#   SHOWN (names of variables, separated by spaces), FAILING (calls that are to end with 1), TEXT
# with records of NUL-ended fields:
#   call ...                                  what the printer tells; see compound-oracle.ts
#   end STATUS COUNT LINE... COUNT LINE...    the text ended; what came out of it, and as errors
#   done
# Descriptor 9 is where records go; the text itself has the null device and two files.
directory=$1 environment=$2 out=$3 errors=$4
shift 4
exec 9>&1 >>"$out" 2>>"$errors"
ulimit -c 0 -f 2048 -t 600 -u 1024
# A builtin of a printer's name would answer before PATH is looked at. `cd` is none of them.
disabled=
for name; do
  enable -n "$name" 2>&- || continue
  enable "$name"
  builtin printf -v name %q "$name"
  disabled+=" $name"
done
surround='cd -- "$SIGNALBOX_DIRECTORY"; unset OLDPWD'
if [[ $environment == closed ]]; then
  surround+='; IFS=$'\''ax-=\n'\''; shopt -s failglob extglob dotglob globstar nocaseglob; set -u'
fi
surround="enable -n$disabled; $surround"
export SIGNALBOX_DIRECTORY=$directory SIGNALBOX_SHOWN= SIGNALBOX_FAILING=
# Read by a bash of its own before its text.
builtin printf '%s\n' "$surround" >"$SIGNALBOX_SURROUNDINGS"
: >"$errors"

while IFS= read -r -d '' count; do
  requests=()
  for ((i = 0; i < 5 * count; i++)); do
    IFS= read -r -d '' field
    requests+=("$field")
  done
  for ((i = 0; i < 5 * count; i += 5)); do
    flag=
    [[ ${requests[i + 1]} == off ]] && flag=-f
    SIGNALBOX_SHOWN=${requests[i + 2]} SIGNALBOX_FAILING=${requests[i + 3]}
    if [[ ${requests[i]} == process ]]; then
      BASH_ENV=$SIGNALBOX_SURROUNDINGS "$BASH" --noprofile --norc $flag -c "${requests[i + 4]}" </dev/null
    else
      (
        text=${requests[i + 4]}
        set -- $flag
        [[ $# == 1 ]] && set -f
        set --
        exec </dev/null
        eval -- "$surround"
        eval -- "$text"
      )
    fi
    status=$?
    mapfile -t printed <"$out"
    mapfile -t complained <"$errors"
    : >"$out" 2>"$errors"
    builtin printf '%s\0' end "$status" "${#printed[@]}" ${printed[@]+"${printed[@]}"} \
      "${#complained[@]}" ${complained[@]+"${complained[@]}"} >&9
  done
  builtin printf '%s\0' done >&9
done
