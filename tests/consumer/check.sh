#!/usr/bin/env bash
# Builds the project of this folder in every way that the README promises: warpath's sources beside it or an installed warpath,
# both backends (emulated: built and run; cuda: built for sm_90, where there is nvcc), with CUDA enabled by the project or not.
#   tests/consumer/check.sh [FOLDER]       FOLDER: where to build (default: build/consumer)
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(cd -- "$here/../.." && pwd)
work=${1:-$root/build/consumer}
jobs=$(nproc)
rm -rf "$work"
mkdir -p "$work"
[[ -x /usr/local/cuda/bin/nvcc ]] && PATH=$PATH:/usr/local/cuda/bin
have_nvcc=no
command -v nvcc >/dev/null && have_nvcc=yes
readonly cuda=(-DWARPATH_BACKEND=cuda -DCONSUMER_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=90)

quietly() { # COMMAND...: prints what it says only if it fails
  if ! "$@" >"$work/log" 2>&1; then
    cat "$work/log"
    return 1
  fi
}

build() { # NAME CMAKE_OPTION...: this folder's project in $work/NAME
  local name=$1
  shift
  quietly cmake -G Ninja -S "$here" -B "$work/$name" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE='-O1' "$@"
  quietly cmake --build "$work/$name" --parallel "$jobs" --target mine
}

# NAME CMAKE_OPTION...: builds it and runs it
run() {
  build "$@"
  printf '  %-44s ' "$1"
  "$(find "$work/$1" -name mine -type f -perm -u+x)"
}

# NAME MESSAGE CMAKE_OPTION...: the configuration fails, and says MESSAGE
refuse() {
  local name=$1 message=$2
  shift 2
  if cmake -G Ninja -S "$here" -B "$work/$name" "$@" >"$work/log" 2>&1; then
    echo "$name: configured, but ought to be refused" >&2
    return 1
  fi
  if ! tr -s '\n ' ' ' <"$work/log" | grep -qF -- "$message"; then
    cat "$work/log"
    echo "$name: refused, but without saying: $message" >&2
    return 1
  fi
  printf '  %-44s refused by name\n' "$name"
}

install_warpath() { # BACKEND CMAKE_OPTION...: into $work/prefix-BACKEND
  local backend=$1
  shift
  quietly cmake -G Ninja -S "$root" -B "$work/warpath-$backend" -DCMAKE_BUILD_TYPE=Release -DWARPATH_BACKEND="$backend" \
    -DWARPATH_EXPERIMENTS=OFF -DWARPATH_TESTS=OFF -DCMAKE_INSTALL_PREFIX="$work/prefix-$backend" "$@"
  quietly cmake --build "$work/warpath-$backend" --parallel "$jobs"
  quietly cmake --install "$work/warpath-$backend"
}

run sources-emulated -DWARPATH_BACKEND=emulated -DCONSUMER_WARPATH="$root"
install_warpath emulated
run installed-emulated -DCMAKE_PREFIX_PATH="$work/prefix-emulated"
refuse installed-other-backend "installed with WARPATH_BACKEND=emulated, but 'cuda' is asked for" \
  -DCMAKE_PREFIX_PATH="$work/prefix-emulated" -DWARPATH_BACKEND=cuda
if [[ $have_nvcc == yes ]]; then
  refuse sources-cuda-not-enabled 'your project enables CUDA before it adds warpath' \
    -DWARPATH_BACKEND=cuda -DCONSUMER_WARPATH="$root"
  refuse sources-cuda-too-old 'warpath needs compute capability 8.0 or more' \
    "${cuda[@]}" -DCMAKE_CUDA_ARCHITECTURES=75 -DCONSUMER_WARPATH="$root"
  run sources-emulated-in-a-cuda-project -DWARPATH_BACKEND=emulated -DCONSUMER_WARPATH="$root" -DCONSUMER_CUDA=ON \
    -DCMAKE_CUDA_ARCHITECTURES=90
  # C++20 comes with the target, whatever the project says of its own standard.
  for standard in none 17 20; do
    standards=()
    [[ $standard == none ]] || standards=("-DCMAKE_CUDA_STANDARD=$standard" "-DCMAKE_CXX_STANDARD=$standard")
    build "sources-cuda-$standard" "${cuda[@]}" "${standards[@]}" -DCONSUMER_WARPATH="$root"
    printf '  %-44s compiled for sm_90\n' "sources-cuda, standard $standard"
  done
  install_warpath cuda -DCMAKE_CUDA_ARCHITECTURES=90
  build installed-cuda "${cuda[@]}" -DCMAKE_PREFIX_PATH="$work/prefix-cuda"
  printf '  %-44s compiled for sm_90\n' installed-cuda
  mkdir "$work/copied"
  cp -r "$root/algorithms/warp_compaction" "$root/algorithms/core" "$work/copied"
  quietly nvcc -std=c++20 --expt-relaxed-constexpr -arch=sm_90 -I"$work/copied" -c "$here/mine.cu" -o "$work/copied/mine.o"
  printf '  %-44s compiled for sm_90\n' copied-folders
else
  echo '  there is no nvcc: the backend cuda was left out'
fi
