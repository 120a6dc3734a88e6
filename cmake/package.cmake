# find_package(Onceward) gives Onceward::onceward, Onceward::app and Onceward::sqlite3. Only include/ is installed; src/ stays private.
include(CMakePackageConfigHelpers)
set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/Onceward)

install(TARGETS onceward onceward_sqlite3 EXPORT OncewardTargets)
install(DIRECTORY include/onceward DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES ${sqlite_directory}/sqlite3.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/onceward/sqlite)
if(TARGET onceward_cli)
  install(TARGETS onceward_app EXPORT OncewardTargets)
  install(TARGETS onceward_cli onceward_checker)
endif()
install(EXPORT OncewardTargets NAMESPACE Onceward:: DESTINATION ${package_directory})

configure_package_config_file(cmake/OncewardConfig.cmake.in ${CMAKE_BINARY_DIR}/OncewardConfig.cmake
  INSTALL_DESTINATION ${package_directory})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/OncewardConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/OncewardConfig.cmake ${CMAKE_BINARY_DIR}/OncewardConfigVersion.cmake
  DESTINATION ${package_directory})
