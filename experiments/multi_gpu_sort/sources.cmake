# warpath_ranks: the sort over several hosts, a program of its own, where MPI and NCCL are found.
if(WARPATH_BACKEND STREQUAL "cuda")
  set(MPI_CXX_SKIP_MPICXX ON)
  find_package(MPI QUIET COMPONENTS CXX)
  find_path(NCCL_INCLUDE nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS} $ENV{NCCL_HOME}/include)
  find_library(NCCL_LIBRARY nccl HINTS ${CUDAToolkit_LIBRARY_DIR} ${CUDAToolkit_LIBRARY_ROOT}/lib
                                       $ENV{NCCL_HOME}/lib)
  mark_as_advanced(NCCL_INCLUDE NCCL_LIBRARY)
  set(missing "")
  if(NOT MPI_CXX_FOUND)
    list(APPEND missing "MPI (Debian: libopenmpi-dev)")
  endif()
  if(NOT NCCL_INCLUDE OR NOT NCCL_LIBRARY)
    list(APPEND missing "NCCL (nccl.h and libnccl.so, beside the CUDA toolkit or in NCCL_HOME)")
  endif()
  if(missing)
    string(JOIN " and " missing ${missing})
    message(STATUS "warpath_ranks is not built: it needs ${missing}")
  else()
    # Apart from the device sources, whose compiler knows no options of MPI's.
    add_library(warpath_nccl STATIC multi_gpu_sort/ranks/mpi_messages.cpp multi_gpu_sort/ranks/nccl_transport.cpp)
    target_include_directories(warpath_nccl PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
    target_include_directories(warpath_nccl SYSTEM PRIVATE ${NCCL_INCLUDE})
    target_link_libraries(warpath_nccl PRIVATE warpath_algorithms MPI::MPI_CXX ${NCCL_LIBRARY})
    add_executable(warpath_ranks multi_gpu_sort/ranks/main.cpp multi_gpu_sort/ranks/sorts.cu)
    target_link_libraries(warpath_ranks PRIVATE warpath_harness warpath_nccl Boost::program_options)
    # MPI's C++ bindings are not used, and newer versions have none.
    target_link_options(warpath_ranks PRIVATE LINKER:--as-needed)
    if(WARPATH_PORTABLE)  # the harness's
      add_custom_command(
        TARGET warpath_ranks
        POST_BUILD
        COMMAND ${CMAKE_COMMAND} -E copy $<TARGET_FILE:benchmark::benchmark>
                $<TARGET_FILE_DIR:warpath_ranks>/$<TARGET_SONAME_FILE_NAME:benchmark::benchmark>
        VERBATIM)
    endif()
  endif()
endif()

# A further source file of these experiments, so that they compile side by side.
warpath_device_sources(warpath_techniques multi_gpu_sort/host_sorts.cu)
