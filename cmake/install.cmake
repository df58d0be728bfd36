# `cmake --install`: the headers, the emulated backend's executor, and a package for find_package(warpath). A prefix holds one
# backend.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(warpath_headers ${CMAKE_INSTALL_INCLUDEDIR}/warpath)
set(warpath_package ${CMAKE_INSTALL_LIBDIR}/cmake/warpath)

foreach(folder core ${WARPATH_TECHNIQUES})
  install(DIRECTORY algorithms/${folder} DESTINATION ${warpath_headers} FILES_MATCHING PATTERN "*.hpp" PATTERN "*.cuh")
endforeach()
set(warpath_targets warpath_algorithms warpath_instrumented)
if(WARPATH_BACKEND STREQUAL "emulated")
  list(APPEND warpath_targets warpath_simt)
  # The shim's headers have CUDA's names, some without an ending.
  install(DIRECTORY algorithms/simt DESTINATION ${warpath_headers} FILES_MATCHING PATTERN "*.hpp" PATTERN "shim" EXCLUDE)
  install(DIRECTORY algorithms/simt/shim DESTINATION ${warpath_headers}/simt)
endif()
install(TARGETS ${warpath_targets} EXPORT warpath ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT warpath FILE warpathTargets.cmake NAMESPACE warpath:: DESTINATION ${warpath_package})

configure_file(cmake/warpathConfig.cmake.in ${PROJECT_BINARY_DIR}/warpathConfig.cmake @ONLY)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/warpathConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/warpathConfig.cmake ${PROJECT_BINARY_DIR}/warpathConfigVersion.cmake
              cmake/device_sources.cmake DESTINATION ${warpath_package})
