# What a project that uses warpath needs beside its targets: included by the build, and by an installed warpath.

# warpath_device_sources(<target> <file>...): device sources (.cu) are CUDA for nvcc and plain C++ for the emulated backend.
function(warpath_device_sources target)
  target_sources(${target} PRIVATE ${ARGN})
  if(WARPATH_BACKEND STREQUAL "emulated")
    set_source_files_properties(${ARGN} TARGET_DIRECTORY ${target} PROPERTIES LANGUAGE CXX)
  endif()
endfunction()

# CMake 3.25.1 does not know that nvcc can do C++20, and stops at targets that ask for it. In the cache, since the targets are
# of the project that uses warpath, in whatever folder of it.
if(WARPATH_BACKEND STREQUAL "cuda" AND NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20 CACHE INTERNAL "")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20 CACHE INTERNAL "")
endif()

# CMake's own default, when a project enables CUDA without a word on architectures, is older than the kernels can be.
if(WARPATH_BACKEND STREQUAL "cuda")
  foreach(architecture IN LISTS CMAKE_CUDA_ARCHITECTURES)
    if(architecture MATCHES "^([0-9]+)" AND CMAKE_MATCH_1 LESS 80)
      message(FATAL_ERROR "warpath needs compute capability 8.0 or more, but CMAKE_CUDA_ARCHITECTURES is "
                          "'${CMAKE_CUDA_ARCHITECTURES}': set it (80, 90, native) before your project enables CUDA")
    endif()
  endforeach()
endif()
