# Compiles each header of the executor and of the shim alone: it must include what it uses.
#   cmake -Dcompiler=<c++> -Dalgorithms=<dir> -P headers_alone.cmake
file(GLOB headers LIST_DIRECTORIES false ${algorithms}/simt/*.hpp ${algorithms}/simt/cuda/*.hpp ${algorithms}/simt/shim/*
     ${algorithms}/simt/shim/cooperative_groups/* ${algorithms}/simt/shim/cuda/*)
set(failed "")
foreach(header IN LISTS headers)
  file(STRINGS ${header} lines)
  list(LENGTH lines count)
  if(count LESS 5)  # it only includes cuda_runtime.h
    continue()
  endif()
  execute_process(
    COMMAND ${compiler} -std=c++20 -Wall -Wextra -Wno-unknown-pragmas -Werror -fsyntax-only -I${algorithms}
            -I${algorithms}/simt/shim -include ${header} -x c++ /dev/null
    RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    list(APPEND failed ${header})
  endif()
endforeach()
if(failed)
  message(FATAL_ERROR "These headers do not compile alone: ${failed}")
endif()
