#!/usr/bin/env bash
# Completion offers what the program takes: completion_test.sh PROGRAM COMPLETION
set -euo pipefail

program=$1
# shellcheck source=/dev/null
source "$2"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/configs/fake" "$folder/configs/other"
touch "$folder/configs/schema.json" "$folder/configs/fake/throughput.json" "$folder/mine.json"
cd "$folder"

failures=0

# complete WORD...: what is offered for the last word, a line each.
complete_words() {
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  COMPREPLY=()
  _warpath "$1"
  ((${#COMPREPLY[@]} == 0)) || printf '%s\n' "${COMPREPLY[@]}"
}

# expect OFFER WORD...: the offer is among those for the words.
expect() {
  local offer=$1
  shift
  if ! complete_words "$@" | grep -qxF -e "$offer"; then
    printf '%s is not offered for: %s\n' "$offer" "$*"
    failures=$((failures + 1))
  fi
}

# expect_only OFFERS WORD...: these words, sorted, and no others.
expect_only() {
  local offers=$1 found
  shift
  found=$(complete_words "$@" | sort | tr '\n' ' ')
  if [[ ${found% } != "$offers" ]]; then
    printf 'expected "%s", found "%s" for: %s\n' "$offers" "$found" "$*"
    failures=$((failures + 1))
  fi
}

# Every command and option of the program's own help is offered, and only what the program knows.
mapfile -t commands < <("$program" --help | sed -n 's/^  warpath \([a-z]*\) .*/\1/p' | sort -u)
((${#commands[@]} >= 7)) || { echo "the help has too few commands: ${commands[*]}"; exit 1; }
expect_only "--help --version ${commands[*]}" warpath ''
for command in "${commands[@]}"; do
  # The words of the description name options, too; those of the table begin a line.
  offered=$(complete_words warpath "$command" -- | grep -v '^--benchmark' | sort | tr '\n' ' ')
  known=$("$program" "$command" --help | sed -n 's/^  \(-h \[ \)\?\(--[a-z-]*\).*/\2/p' | sort | tr '\n' ' ')
  if [[ $offered != "$known" ]]; then
    printf '%s: offered %s, known %s\n' "$command" "$offered" "$known"
    failures=$((failures + 1))
  fi
  while read -r flag; do
    if "$program" "$command" --help | grep -qF -e "${flag%=}"; then continue; fi
    printf '%s: %s is offered and not in the help\n' "$command" "$flag"
    failures=$((failures + 1))
  done < <(complete_words warpath "$command" --benchmark)
done

expect_only 'run' warpath ru
expect_only '--resume' warpath run fake --res
expect_only 'full paper smoke' warpath run fake --profile ''
expect_only 'full paper smoke' warpath run fake --profile =
# configs/other has no demonstration: the program knows.
expect_only 'fake' "$program" demo ''
expect_only '' "$folder/nothing" demo ''
for flag in --benchmark_format --benchmark_out_format; do
  expect_only 'console csv json' warpath run fake $flag =
  expect_only 'csv' warpath run fake $flag = cs
  expect_only 'fake fake/throughput' warpath run $flag fa
done
expect_only 'mine.json' warpath run --benchmark_out = mi
expect_only '' warpath run --benchmark_filter =
expect_only '' warpath run --set n = fa
expect_only 'fake fake/throughput' warpath verify fa
expect_only 'other' warpath list o
expect 'mine.json' warpath run mi
expect 'configs/schema.json' warpath run configs/s
expect 'mine.json' warpath judge m
expect 'configs' warpath compare c
expect_only '' warpath run --set ''

((failures == 0))
