# Further source files of these experiments, so that they compile side by side.
warpath_device_sources(warpath_techniques kd_tree/asked.cu kd_tree/builds_4_bytes.cu kd_tree/builds_8_bytes.cu kd_tree/on_devices.cu)

# The build and the verification on the host: in tasks where the compiler has OpenMP; where not, on one thread.
add_library(warpath_host_trees STATIC kd_tree/host_trees.cpp)
target_include_directories(warpath_host_trees PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_compile_options(warpath_host_trees PRIVATE -O3)
target_link_libraries(warpath_host_trees PRIVATE warpath_algorithms)
find_package(OpenMP COMPONENTS CXX)
if(OpenMP_CXX_FOUND)
  target_link_libraries(warpath_host_trees PRIVATE OpenMP::OpenMP_CXX)
endif()
target_link_libraries(warpath_techniques PRIVATE warpath_host_trees)
