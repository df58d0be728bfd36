# Completes the command line of `warpath` in bash: source this file. Techniques and configurations are those
# under configs/ of the current folder, where warpath looks for them, too.

# The words after $1 that begin with what is typed.
_warpath_words() {
  local typed=$1
  shift
  mapfile -t COMPREPLY < <(compgen -W "$*" -- "$typed")
}

# Files and folders that begin with what is typed; an added blank would keep folders from being entered.
_warpath_files() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -f -- "$1")
}

# technique, and with $1 also technique/experiment.
_warpath_configurations() {
  local file
  for file in configs/*/; do
    [[ -d $file ]] && basename "$file"
  done
  [[ -n ${1-} ]] || return
  for file in configs/*/*.json; do
    [[ -f $file ]] || continue
    file=${file#configs/}
    printf '%s\n' "${file%.json}"
  done
}

# The techniques that the program $1 has a demonstration of.
_warpath_demonstrations() {
  "$1" list 2>/dev/null | sed -n 's/.*demonstration: warpath demo //p'
}

_warpath() {
  local typed=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]-}
  # Bash makes three words of --option=value, the only form that the options of Google Benchmark have.
  local is_value=''
  if [[ $typed == '=' ]]; then
    typed='' is_value=yes
  elif [[ $before == '=' ]]; then
    before=${COMP_WORDS[COMP_CWORD - 2]} is_value=yes
  elif [[ $before == --benchmark_* ]]; then
    before=''
  fi
  local -A options=(
    [list]='--help --json'
    [run]='--help --profile --set --force --resume --out --dry-run
           --benchmark_filter= --benchmark_list_tests --benchmark_format= --benchmark_out=
           --benchmark_out_format= --benchmark_context= --benchmark_color= --benchmark_counters_tabular'
    [verify]='--help --profile --set --force --benchmark_filter= --benchmark_list_tests'
    [judge]='--help'
    [compare]='--help --fail-above'
    [demo]='--help'
    [info]='--help --json --out'
  )
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    _warpath_words "$typed" "${!options[@]}" --help --version
    return
  fi
  case $before in
    --profile) _warpath_words "$typed" smoke paper full && return ;;
    --out | --benchmark_out) _warpath_files "$typed" && return ;;
    --benchmark_format | --benchmark_out_format) _warpath_words "$typed" console json csv && return ;;
    --set | --fail-above) return ;;
  esac
  [[ -z $is_value ]] || return 0
  if [[ $typed == -* ]]; then
    _warpath_words "$typed" "${options[$command]-}"
    [[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace 2>/dev/null
    return
  fi
  case $command in
    run | verify)
      _warpath_words "$typed" "$(_warpath_configurations with_experiments)"
      local -a names=("${COMPREPLY[@]}")
      _warpath_files "$typed"
      COMPREPLY=("${names[@]}" "${COMPREPLY[@]}")
      ;;
    list) _warpath_words "$typed" "$(_warpath_configurations)" ;;
    demo) _warpath_words "$typed" "$(_warpath_demonstrations "$1")" ;;
    judge | compare) _warpath_files "$typed" ;;
  esac
}

complete -F _warpath warpath
