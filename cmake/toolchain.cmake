# Language level, warnings, the two backends and the sanitizers: everything that all targets share.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
find_package(Threads REQUIRED)

# ccache, if present; precompiled headers are cached only with this sloppiness (they are the compiler's and the libraries'
# headers, which do not change under it).
find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(ccache_launcher ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${ccache_launcher})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CCACHE})
endif()

if(WARPATH_BACKEND STREQUAL "cuda")
  # A language that a subdirectory enables does not reach the targets of the project around it.
  if(NOT PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CUDA_COMPILER)
    message(FATAL_ERROR "warpath's backend cuda: your project enables CUDA before it adds warpath: project(... LANGUAGES CXX CUDA)")
  endif()
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    execute_process(
      COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
      OUTPUT_VARIABLE capabilities
      ERROR_QUIET
      RESULT_VARIABLE no_gpu)
    string(REGEX MATCHALL "[0-9]+\\.[0-9]+" capabilities "${capabilities}")
    if(no_gpu EQUAL 0 AND capabilities)
      list(REMOVE_DUPLICATES capabilities)
      list(TRANSFORM capabilities REPLACE "\\." "")
      # Some kernels have instructions that only code for sm_90a may have.
      list(TRANSFORM capabilities REPLACE "^90$" "90a")
      set(CMAKE_CUDA_ARCHITECTURES ${capabilities})
    else()
      set(CMAKE_CUDA_ARCHITECTURES 80 90a)
    endif()
  endif()
  enable_language(CUDA)
  set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
  find_package(CUDAToolkit 12.4 REQUIRED)
elseif(NOT WARPATH_BACKEND STREQUAL "emulated")
  message(FATAL_ERROR "WARPATH_BACKEND is '${WARPATH_BACKEND}': expected emulated or cuda")
endif()

# Warnings are errors on every compiler, for all targets of this project and no other's: options of the directory, which
# do not travel with a target to those that link it.
add_compile_options(
  "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wshadow>"
  "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra;-lineinfo>")
if(PROJECT_IS_TOP_LEVEL)
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-Werror>"
                      "$<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings;-Xcompiler=-Werror>")
endif()
# GCC collects its garbage from 128 MB on; up to 1 GiB it need not, which saves some 6 % of the time.
add_compile_options("$<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=1048576>")
if(NOT WARPATH_SANITIZE)
  add_link_options($<$<CONFIG:Release>:-s>)
endif()

# Code that a sanitizer watches: kernels, harness and tests. The SIMT executor itself is never instrumented.
add_library(warpath_instrumented INTERFACE)
if(WARPATH_SANITIZE STREQUAL "address")
  set(sanitizer_flags -fsanitize=address,undefined,float-cast-overflow
      -fno-sanitize-recover=undefined,float-cast-overflow -fno-omit-frame-pointer)
elseif(WARPATH_SANITIZE STREQUAL "thread")
  set(sanitizer_flags -fsanitize=thread)
elseif(WARPATH_SANITIZE)
  message(FATAL_ERROR "WARPATH_SANITIZE is '${WARPATH_SANITIZE}': expected address, thread or nothing")
endif()
# -g1: what a sanitizer finds is named by file and line.
target_compile_options(warpath_instrumented INTERFACE ${sanitizer_flags} $<$<BOOL:${WARPATH_SANITIZE}>:-g1>)
target_link_options(warpath_instrumented INTERFACE ${sanitizer_flags})

# Where the executables travel to a machine that has a GPU and little else, they carry their libraries.
if(WARPATH_PORTABLE)
  set(Boost_USE_STATIC_LIBS ON)
  set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
  set(CMAKE_INSTALL_RPATH "$ORIGIN")
  add_link_options(-static-libstdc++ -static-libgcc)
endif()

