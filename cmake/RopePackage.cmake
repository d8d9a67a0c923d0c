# SPDX-License-Identifier: Apache-2.0
# What makes an installation a package: find_package(rope 1 CONFIG), which works from the build directory as
# well, rope.pc and rope-config.pc, and by CPack a tarball and Debian packages (package.sh makes both).
#
# Install components, each a Debian package: librope, librope_config (shared libraries), librope_dev
# (headers, static libraries, manual of the interface), rope_tools.  A rule that names none of them is in
# no package, which tests/package/run.sh would notice.
if(NOT ROPE_INSTALL)
  return()
endif()
include(CMakePackageConfigHelpers)

# ---- CMake ----------------------------------------------------------------------------------------

set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/rope)
configure_package_config_file(cmake/ropeConfig.cmake.in ropeConfig.cmake
  INSTALL_DESTINATION ${package_directory} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(ropeConfigVersion.cmake COMPATIBILITY SameMajorVersion)
set(package_files
  ${PROJECT_BINARY_DIR}/ropeConfig.cmake ${PROJECT_BINARY_DIR}/ropeConfigVersion.cmake)
foreach(module FindSLEEF FindJansson)
  configure_file(cmake/${module}.cmake ${module}.cmake COPYONLY)
  list(APPEND package_files cmake/${module}.cmake)
endforeach()
install(FILES ${package_files} DESTINATION ${package_directory} COMPONENT librope_dev)
foreach(export IN LISTS ROPE_EXPORTS)
  set(file ropeTargets-${export}.cmake)
  install(EXPORT rope-${export} NAMESPACE rope:: FILE ${file}
    DESTINATION ${package_directory} COMPONENT librope_dev)
  export(EXPORT rope-${export} NAMESPACE rope:: FILE ${PROJECT_BINARY_DIR}/${file})
endforeach()

# ---- pkg-config -----------------------------------------------------------------------------------

# Paths from where the file lies: the installation may be moved.
set(pc_directory ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH to_prefix "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" to_prefix "${to_prefix}")
file(RELATIVE_PATH to_include "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_FULL_INCLUDEDIR}")

# rope_pkgconfig(<name> <description> <requires> <library>...)
function(rope_pkgconfig name description requires)
  set(links ${ARGN})
  list(TRANSFORM links PREPEND "-l")
  list(JOIN links " " pc_private)
  set(pc_public "")
  if(NOT ROPE_SHARED) # what is found is static: no program links without these
    set(pc_public " ${pc_private}")
    set(pc_private "")
  endif()
  configure_file(cmake/pkgconfig.pc.in ${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${pc_directory} COMPONENT librope_dev)
endfunction()

# Not Requires.private: a program that links the shared library does not need sleef.pc.
set(links m)
if(ROPE_WITH_SLEEF)
  set(links sleef m)
endif()
rope_pkgconfig(rope "Exact rotary position embeddings" "" ${links})
if(TARGET rope_config)
  rope_pkgconfig(rope-config "Rotary position embeddings of a model's configuration" rope jansson m)
endif()
