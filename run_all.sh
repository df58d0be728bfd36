#!/usr/bin/env bash
# Reproduces everything on the machine at hand, or passes the tests: see --help.
# Sets up what is missing, builds, runs, draws, reports. Can be run again at any time; it redoes only what changed.
set -euo pipefail

ROOT=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
readonly ROOT
readonly NEEDED=(
  cmake ninja-build g++ ccache git
  libboost-context-dev libboost-program-options-dev nlohmann-json3-dev libbenchmark-dev
  libgtest-dev libgmock-dev
  python3-matplotlib python3-pytest python3-jsonschema
)
readonly NEEDED_BY_SANITIZERS=(clang) # and the sanitizers' run time of its version: sanitizer_runtime()
readonly BACKENDS=(auto cuda emulated emulated-asan emulated-tsan)
readonly PROFILES=(smoke paper full)
# Programs of their own, most of them peers in Python: each fills its rows of the archives in; where it cannot run, the rows say why.
readonly PEERS=(experiments/peers/{keops,triton_gaussian,torch_gaussian,numpy_gaussian,nccl_ranks}.py)
readonly OPTIONS=(--backend --profile --resume --jobs --help)

usage() {
  cat <<'END'
Usage: ./run_all.sh [EXPERIMENT...] [OPTIONS]   run, draw the figures and write the report
       ./run_all.sh test [OPTIONS]              pass the tests
       ./run_all.sh sanitize [PROGRAM...]       compute-sanitizer over the tests' kernels, on a GPU
       ./run_all.sh setup                       install what every mode needs, and stop

EXPERIMENT is a technique, as a folder of configs/ is called, or TECHNIQUE/EXPERIMENT, one of its
files; without any, all are run. Kernels run on the GPU where there is one and nvcc to build for it, else on
the CPU through the SIMT executor, which shows that they are correct and times nothing.

  --backend NAME   cuda or emulated (default: what the machine has); the tests also take
                   emulated-asan and emulated-tsan
  --profile NAME   smoke, paper or full (default: paper on a GPU, smoke without one)
  --resume         keep the points that an earlier, interrupted run has finished
  --jobs N         compile and test with N processes (default: as many as cores and memory allow)
  --help           this text

--option=value is --option value. Results: results/runs/<device>/, with REPORT.md and report.html.
The exit status is 0 only if every answer was right; a missing GPU is no failure.
END
}

# ---- messages

say() { printf '%s\n' "$*"; }

die() {
  printf 'run_all.sh: %s\n' "$*" >&2
  exit 2
}

banner() {
  local line
  printf '\n'
  printf '%s\n' "$(printf '%.0s*' {1..98})"
  for line in "$@"; do printf '*  %s\n' "$line"; done
  printf '%s\n\n' "$(printf '%.0s*' {1..98})"
}

# The one of the words $2... that is fewest edits away from $1.
nearest() {
  local given=$1 best='' least=1000 word
  shift
  for word in "$@"; do
    local distance
    distance=$(edits "$given" "$word")
    if ((distance < least)); then
      least=$distance
      best=$word
    fi
  done
  printf '%s' "$best"
}

# Levenshtein's distance of two words.
edits() {
  local a=$1 b=$2 i j
  local -a above row
  for ((j = 0; j <= ${#b}; j++)); do above[j]=$j; done
  for ((i = 1; i <= ${#a}; i++)); do
    row=("$i")
    for ((j = 1; j <= ${#b}; j++)); do
      local cost=1
      [[ ${a:i-1:1} == "${b:j-1:1}" ]] && cost=0
      row[j]=$((above[j - 1] + cost))
      ((above[j] + 1 < row[j])) && row[j]=$((above[j] + 1))
      ((row[j - 1] + 1 < row[j])) && row[j]=$((row[j - 1] + 1))
    done
    above=("${row[@]}")
  done
  printf '%s' "${above[${#b}]}"
}

# require_one_of WHAT GIVEN ALLOWED...: ends with a clear error where GIVEN is none of them.
require_one_of() {
  local what=$1 given=$2 word
  shift 2
  for word in "$@"; do [[ $given == "$word" ]] && return; done
  die "unknown $what '$given': did you mean '$(nearest "$given" "$@")'? (known: $*; see --help)"
}

# ---- stages: each is announced, timed, and listed at the end

STAGE_NAMES=()
STAGE_SECONDS=()

# stage NAME COMMAND...: runs the command; returns its status.
stage() {
  local name=$1 begin=$SECONDS status=0
  shift
  printf '\n==> %s\n' "$name"
  "$@" || status=$?
  STAGE_NAMES+=("$name")
  STAGE_SECONDS+=($((SECONDS - begin)))
  return "$status"
}

print_stages() {
  local i
  printf '\nTime by stage\n'
  for i in "${!STAGE_NAMES[@]}"; do
    printf '  %-44s %4d s\n' "${STAGE_NAMES[i]}" "${STAGE_SECONDS[i]}"
  done
  printf '  %-44s %4d s\n' 'in all' "$SECONDS"
}

# ---- set-up

# Prints those of the given Debian packages that are not installed.
missing_packages() {
  local package
  for package in "$@"; do
    [[ $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) == installed ]] ||
      printf '%s\n' "$package"
  done
}

install_packages() {
  if ! command -v dpkg-query >/dev/null; then
    say "This is no Debian or Ubuntu: nothing is installed. Needed are the likes of: $*"
    return
  fi
  local -a missing as_root=()
  mapfile -t missing < <(missing_packages "$@")
  if ((${#missing[@]} == 0)); then
    say 'Everything that is needed is installed.'
    return
  fi
  if ((EUID != 0)); then
    if sudo -n true 2>/dev/null; then
      as_root=(sudo -n)
    else
      die "packages are missing, and installing them takes root. Type this, then run it again:
  sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}"
    fi
  fi
  say "Installing ${missing[*]}"
  local log
  log=$(mktemp)
  if ! { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1 </dev/null; then
    tail -n 20 "$log" >&2
    die "apt-get failed; all that it said is in $log"
  fi
  rm -f "$log"
}

# The package with the run time of the sanitizers, which no package without a version has: Debian 12 has clang 14, Ubuntu 24.04 clang 18.
sanitizer_runtime() {
  local version
  version=$(clang -dumpversion 2>/dev/null) || return 0
  printf 'libclang-rt-%s-dev' "${version%%.*}"
}

find_nvcc() { command -v nvcc >/dev/null || [[ -x /usr/local/cuda/bin/nvcc ]]; }

find_gpu() { command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep -q '^GPU'; }

# Sets PYTHON to an interpreter that has what the plots and tests need: the system's, where the packages went.
find_python() {
  local candidate
  for candidate in /usr/bin/python3 python3; do
    if "$candidate" -c 'import matplotlib, pytest, jsonschema' 2>/dev/null; then
      PYTHON=$candidate
      return
    fi
  done
  die 'no python3 has matplotlib, pytest and jsonschema: install them for it'
}

choose_backend() {
  if [[ $BACKEND == auto ]]; then
    if find_gpu && find_nvcc; then BACKEND=cuda; else BACKEND=emulated; fi
  fi
  if [[ $BACKEND == cuda ]]; then
    find_nvcc || die 'the cuda backend needs nvcc (on PATH or in /usr/local/cuda/bin); try --backend emulated'
    find_gpu || die 'the cuda backend needs a GPU (nvidia-smi lists none); try --backend emulated'
    command -v nvcc >/dev/null || PATH=/usr/local/cuda/bin:$PATH
  elif ! find_gpu; then
    banner 'No GPU found: kernels run on the CPU through the SIMT executor.' \
      'That shows that they are correct; it times nothing. CPU baselines are timed for real,' \
      'and the report shows the archived GPU results, labelled as archived.'
  elif ! find_nvcc; then
    banner 'There is a GPU, but no nvcc to build for it: kernels run on the CPU, and are not timed.' \
      'Install a CUDA toolkit (12.4 or newer), then run this again.'
  fi
}

# As many compilers as cores, but not more than one for each 2 GB of memory.
choose_jobs() {
  [[ -n $JOBS ]] && return
  local cores memory
  cores=$(nproc 2>/dev/null || echo 2)
  memory=$(awk '/^MemAvailable/ {print int($2 / 2097152)}' /proc/meminfo 2>/dev/null || echo 1)
  JOBS=$((memory < cores ? (memory > 0 ? memory : 1) : cores))
}

# What a clone that was moved or copied has in build/ is of its old place, and CMake refuses it.
forget_other_place() {
  local place
  place=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "build/$BACKEND/CMakeCache.txt" 2>/dev/null) || return 0
  [[ -n $place && ! $place -ef $ROOT ]] || return 0
  say "build/$BACKEND was configured in $place, and this is $ROOT: it is configured and built anew."
  rm -rf -- "build/$BACKEND"
}

# build TARGET...: no target builds all.
build() {
  forget_other_place
  cmake --preset "$BACKEND" >"$ROOT/build/configure.log" 2>&1 || {
    cat "$ROOT/build/configure.log" >&2
    return 1
  }
  cmake --build --preset "$BACKEND" --parallel "$JOBS" ${1:+--target "$@"}
}

# ---- running the experiments

# Sets CONFIGS to the configurations of the experiments that were asked for, all where none was.
choose_configs() {
  local -a known=() files
  local wanted file found
  mapfile -t files < <(cd "$ROOT/configs" && find . -mindepth 2 -name '*.json' | sed 's|^\./||' | sort)
  ((${#files[@]})) || die 'there is no configuration in configs/'
  for file in "${files[@]}"; do known+=("${file%%/*}" "${file%.json}"); done
  mapfile -t known < <(printf '%s\n' "${known[@]}" | sort -u)
  CONFIGS=()
  for wanted in "${WANTED[@]}"; do require_one_of experiment "$wanted" "${known[@]}" test sanitize setup; done
  for file in "${files[@]}"; do
    found=${WANTED[0]+no}
    for wanted in "${WANTED[@]}"; do
      [[ $wanted == "${file%%/*}" || $wanted == "${file%.json}" ]] && found=yes
    done
    [[ $found == no ]] || CONFIGS+=("configs/$file")
  done
}

# Measures the ceilings, and sets SLUG to the folder of results/runs that the program keeps this machine's results in.
measure_machine() {
  local info newest=''
  "$PROGRAM" info --out results/runs || return
  for info in results/runs/*/info.json; do
    [[ -n $newest && $newest -nt $info ]] || newest=$info
  done
  [[ -f $newest ]] || return
  SLUG=$(basename "$(dirname "$newest")")
}

run_experiment() { "$PROGRAM" run "$1" --profile "$PROFILE" --out results/runs "${RESUME[@]}"; }

# interrupted STATUS: says how to go on, unless the terminal is gone, and ends with the status.
interrupted() {
  { say ''; say 'Interrupted. What is finished is kept; go on with the same command and --resume.'; } 2>/dev/null || true
  exit "$1"
}

run_everything() {
  local config peer name status failed=()
  stage "build ($BACKEND)" build warpath || die 'the build failed: see above'
  stage 'measure this machine' measure_machine || die 'warpath info failed: see above'
  for config in "${CONFIGS[@]}"; do
    name=${config#configs/}
    # One experiment that fails does not keep the others from being run, or reported.
    status=0
    stage "run ${name%.json} ($PROFILE)" run_experiment "$config" || status=$?
    case $status in 129 | 130 | 141 | 143) interrupted "$status" ;; esac
    ((status == 0)) || failed+=("${name%.json}")
  done
  for peer in "${PEERS[@]}"; do
    name=$(basename "$peer" .py)
    stage "peer $name" python3 "$peer" "results/runs/$SLUG" || failed+=("$name")
  done
  # Claims that name a peer as their baseline can be judged now.
  stage 'judge again' "$PROGRAM" judge "results/runs/$SLUG" || failed+=('judge')
  stage 'figures and report' "$PYTHON" plots/report.py \
    --results "results/runs/$SLUG" --archived results || failed+=('report')
  print_stages
  say ''
  say "Report:  results/runs/$SLUG/report.html (or REPORT.md)"
  [[ ! -d results/runs/$SLUG/figures ]] || say "Figures: results/runs/$SLUG/figures/"
  say "Records: results/runs/$SLUG/"
  if ((${#failed[@]})); then
    banner "FAILED: ${failed[*]}" \
      'A wrong answer has no time. The lines above and the report say which point, and why.'
    return 1
  fi
}

# ---- the tests

# That each header compiles alone is a matter of form, as its format is: CI looks at it.
run_ctest() { ctest --preset "$BACKEND" --label-exclude headers --parallel "$JOBS"; }

run_pytest() { PYTHONDONTWRITEBYTECODE=1 "$PYTHON" -m pytest -q tests/plots; }

# Both at once: one leaves cores idle at its end, the other takes one core only. Python's output comes after ctest's.
run_ctest_and_pytest() {
  local log=build/pytest.log python_status=0 status=0 python
  run_pytest >"$log" 2>&1 &
  python=$!
  run_ctest || status=1
  wait "$python" || python_status=$?
  printf '\n'
  cat "$log"
  return $((status | (python_status != 0)))
}

run_tests() {
  local failed=()
  # The sanitizers have nothing to say about Python, nor about the program, whose kernels are those of the tests.
  if [[ $BACKEND == *san ]]; then
    stage "build ($BACKEND)" build warpath_tests || die 'the build failed: see above'
    stage "ctest ($BACKEND)" run_ctest || failed+=(ctest)
  else
    stage "build ($BACKEND)" build || die 'the build failed: see above'
    stage "ctest ($BACKEND), pytest" run_ctest_and_pytest || failed+=('ctest or pytest')
  fi
  print_stages
  if ((${#failed[@]})); then
    banner "FAILED: ${failed[*]}"
    return 1
  fi
  say ''
  say 'All tests passed.'
}

# The kernels under compute-sanitizer, on this machine's GPU.
run_sanitizer() {
  [[ $BACKEND == cuda ]] || die 'compute-sanitizer needs a GPU; without one: ./run_all.sh test --backend emulated-asan'
  stage 'build (cuda)' build warpath_tests || die 'the build failed: see above'
  stage 'compute-sanitizer' tests/sanitize.sh build/cuda/bin "${WANTED[@]}" || exit 1
}

# ---- the command line

BACKEND=auto PROFILE='' JOBS='' PYTHON='' SLUG='' COMMAND=run
RESUME=() WANTED=()

value_of() { # OPTION VALUE...: the option's value, or an error where there is none
  (($# > 1)) || die "$1 needs a value (see --help)"
  printf '%s' "$2"
}

while (($#)); do
  case $1 in
    --backend=* | --profile=* | --jobs=*)
      set -- "${1%%=*}" "${1#*=}" "${@:2}"
      continue
      ;;
    --*=*)
      require_one_of option "${1%%=*}" "${OPTIONS[@]}"
      die "${1%%=*} takes no value (see --help)"
      ;;
    --help | -h)
      usage
      exit 0
      ;;
    --backend)
      BACKEND=$(value_of "$@")
      require_one_of backend "$BACKEND" "${BACKENDS[@]}"
      shift
      ;;
    --profile)
      PROFILE=$(value_of "$@")
      require_one_of profile "$PROFILE" "${PROFILES[@]}"
      shift
      ;;
    --jobs)
      JOBS=$(value_of "$@")
      [[ $JOBS =~ ^[1-9][0-9]*$ ]] || die "--jobs is '$JOBS': expected a number of processes, at least 1"
      shift
      ;;
    --resume) RESUME=(--resume) ;;
    -*) require_one_of option "$1" "${OPTIONS[@]}" ;;
    test | sanitize | setup) COMMAND=$1 ;;
    *) WANTED+=("${1%/}") ;;
  esac
  shift
done

cd -- "$ROOT"
mkdir -p build
if [[ $COMMAND == run ]]; then
  [[ $BACKEND != *san ]] || die "$BACKEND is for the tests: ./run_all.sh test --backend $BACKEND"
  choose_configs
elif [[ $COMMAND != sanitize ]] && ((${#WANTED[@]})); then
  die "'$COMMAND' takes no experiment, but got '${WANTED[*]}'"
fi

packages=("${NEEDED[@]}")
[[ $COMMAND == setup || $BACKEND == *san ]] && packages+=("${NEEDED_BY_SANITIZERS[@]}")
[[ $COMMAND == setup ]] && packages+=(clang-format shellcheck)
# Of a program that sorts over several hosts: it is built where there is NCCL, too.
[[ $COMMAND == setup ]] && find_nvcc && packages+=(libopenmpi-dev)
stage 'set up' install_packages "${packages[@]}"
if [[ $COMMAND == setup || $BACKEND == *san ]]; then
  runtime=$(sanitizer_runtime)
  [[ -z $runtime ]] || stage 'set up the sanitizers' install_packages "$runtime"
fi
[[ $COMMAND == setup ]] && exit 0

find_python
choose_backend
choose_jobs
if [[ $COMMAND == test ]]; then
  run_tests
  exit
elif [[ $COMMAND == sanitize ]]; then
  run_sanitizer
  exit
fi

[[ -n $PROFILE ]] || { if [[ $BACKEND == cuda ]]; then PROFILE=paper; else PROFILE=smoke; fi; }
PROGRAM=build/$BACKEND/bin/warpath
trap 'interrupted 129' HUP
trap 'interrupted 130' INT
trap 'interrupted 143' TERM
run_everything
