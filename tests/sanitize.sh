#!/usr/bin/env bash
# Runs compute-sanitizer's memcheck, racecheck and initcheck over the test programs that have kernels, on the GPU.
#   tests/sanitize.sh FOLDER [PROGRAM...]     FOLDER: with the programs (build/cuda/bin); PROGRAM: some of them
# SANITIZE_TOOLS="memcheck" takes fewer tools, SANITIZE_SECONDS (1800) ends a program that takes longer.
# Tests that provoke an error of the CUDA API on purpose are left out: they are called so that this pattern fits them.
set -euo pipefail

readonly PROVOKE='CudaCheck.*:*CouldNot*:*CannotGrow*:*Refuse*:*FailedAllocation*:*NoMemory*:BadInput.*:Preconditions.*'

(($#)) || {
  sed -n 's/^# \{0,1\}//p' "${BASH_SOURCE[0]}" | sed -n '2,5p'
  exit 2
}
folder=$1
shift
PATH=$PATH:/usr/local/cuda/bin
command -v compute-sanitizer >/dev/null || {
  echo 'sanitize.sh: compute-sanitizer is not on PATH: it comes with the CUDA toolkit' >&2
  exit 2
}
programs=("$@")
if ((${#programs[@]} == 0)); then
  for program in "$folder"/warpath_test_*; do
    [[ $program == *_harness ]] || programs+=("$(basename "$program")")
  done
fi

logs=$folder/../sanitize
mkdir -p "$logs"
# The sizes that each schedule of the CPU takes: a tool makes a kernel a hundred times slower.
export WARPATH_TEST_SIZE=${WARPATH_TEST_SIZE:-small}
# In kernels of such names one lane arrives at a transaction barrier for its warp, after a warp barrier. racecheck (2025.3) does not follow
# that order to the other lanes, and calls every access before it a hazard; with all 32 lanes arriving it finds none (not tried in
# warpgroup_least_kernel, where it names the same refill of a stage). The emulated
# ThreadSanitizer knows both barriers, and watches them.
readonly RACECHECK_EXCLUDES=kns=pipeline_kernel,kns=warpgroup_s,kns=warpgroup_l

failed=()
for program in "${programs[@]}"; do
  for tool in ${SANITIZE_TOOLS:-memcheck racecheck initcheck}; do
    log=$logs/$program.$tool.log
    begin=$SECONDS
    status=0
    options=(--tool "$tool" --error-exitcode 99 --log-file "$log")
    [[ $tool == racecheck ]] && options+=(--kernel-name-exclude "$RACECHECK_EXCLUDES")
    timeout "${SANITIZE_SECONDS:-1800}" compute-sanitizer "${options[@]}" \
      "$folder/$program" --gtest_brief=1 "--gtest_filter=-$PROVOKE" >"$log.tests" 2>&1 || status=$?
    case $status in
      0) verdict=clean ;;
      99) verdict="ERRORS: $log" ;;
      124) verdict='not ended in time' ;;
      *) verdict="the tests fail (exit code $status): $log.tests" ;;
    esac
    ((status == 0)) || failed+=("$program.$tool")
    printf '%-46s %-10s %5d s  %s\n' "$program" "$tool" $((SECONDS - begin)) "$verdict"
  done
done
((${#failed[@]} == 0)) || {
  printf 'FAILED: %s\n' "${failed[*]}"
  exit 1
}
echo 'All clean.'
