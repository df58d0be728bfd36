# Headers of the libraries and of the standard library, parsed once and not for each source: none of this project's own, so
# that an edit of a header compiles what includes it and nothing more. On the emulated backend only: nvcc has none.
option(WARPATH_PRECOMPILED_HEADERS "Parse the libraries' headers once (emulated backend)" ON)

# warpath_precompile(<target> <header>...), or warpath_precompile(<target> REUSE_FROM <other>) for one with the same options.
function(warpath_precompile target)
  if(WARPATH_PRECOMPILED_HEADERS AND WARPATH_BACKEND STREQUAL "emulated")
    if(ARGV1 STREQUAL "REUSE_FROM")
      target_precompile_headers(${target} ${ARGN})
    else()
      target_precompile_headers(${target} PRIVATE ${ARGN})
    endif()
  endif()
endfunction()
