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

# ---- Debian packages and tarball ------------------------------------------------------------------

if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_NAME librope)
set(CPACK_PACKAGE_CONTACT "librope maintainers <maintainers@librope.invalid>" CACHE STRING
  "Whom the packages name as their maintainer")
set(CPACK_PACKAGE_VENDOR librope)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
string(TOLOWER "librope-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}" name)
set(CPACK_PACKAGE_FILE_NAME ${name})
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_COMPONENTS_ALL "")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Ours are named below with their exact version.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR})
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each package has its own
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
if(ROPE_IS_aarch64) # the default is the architecture that dpkg runs on
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)
elseif(ROPE_IS_i386)
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE i386)
endif()
set(same_version "(= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")

# rope_package(<component> <Debian name> <section> <description>)
macro(rope_package component debian_name section description)
  string(TOUPPER ${component} upper)
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${debian_name})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${description}")
  # Left out of an installation as a whole, which is none of Debian.
  install(FILES cmake/debian-copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${debian_name} RENAME copyright
    COMPONENT ${component} EXCLUDE_FROM_ALL)
endmacro()

# The symbols file says since which version each symbol is there: the version of its node in the map.
macro(rope_library_package target component description)
  get_target_property(file ${target} OUTPUT_NAME)
  set(package lib${file}${PROJECT_VERSION_MAJOR})
  rope_package(${component} ${package} libs "${description}")
  set(symbols "lib${file}.so.${PROJECT_VERSION_MAJOR} ${package} #MINVER#\n")
  string(APPEND symbols "* Build-Depends-Package: librope-dev\n")
  file(STRINGS src/lib${file}.map lines)
  foreach(line IN LISTS lines)
    if(line MATCHES "^([A-Z_]+_([0-9.]+)) *{")
      set(node ${CMAKE_MATCH_1})
      set(since ${CMAKE_MATCH_2}.0)
      string(APPEND symbols " ${node}@${node} ${since}\n")
    elseif(line MATCHES "^ +(rope_[a-z0-9_]+)(;|$)")
      string(APPEND symbols " ${CMAKE_MATCH_1}@${node} ${since}\n")
    endif()
  endforeach()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS src/lib${file}.map)
  set(symbols_file ${PROJECT_BINARY_DIR}/debian/${package}/symbols)
  file(CONFIGURE OUTPUT ${symbols_file} CONTENT "${symbols}" @ONLY)
  set(CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_EXTRA ${symbols_file})
  list(APPEND libraries "${package} ${same_version}")
  list(APPEND needed "${package} (>= ${PROJECT_VERSION})")
endmacro()

set(libraries "")
set(needed "") # by the next library
if(ROPE_SHARED)
  rope_library_package(rope librope "exact rotary position embeddings - shared library
Turns the positions of a transformer's tokens into rotations of its queries and
keys, correctly rounded, with the same bits on every instruction set.")
  if(TARGET rope_config)
    rope_library_package(rope_config librope_config
      "rotary position embeddings of a model - shared library
Reads the configuration of a model, Hugging Face config.json or GGUF, and
makes the plans of librope for each of its layers.")
    list(GET needed 0 CPACK_DEBIAN_LIBROPE_CONFIG_PACKAGE_DEPENDS)
  endif()
endif()
list(JOIN libraries ", " libraries)
rope_package(librope_dev librope-dev libdevel
  "exact rotary position embeddings - development files
Headers, CMake and pkg-config files, manual of the interface, and the static
libraries, which link SLEEF and Jansson besides.")
set(CPACK_DEBIAN_LIBROPE_DEV_PACKAGE_DEPENDS "${libraries}")
set(CPACK_DEBIAN_LIBROPE_DEV_PACKAGE_SUGGESTS "libsleef-dev, libjansson-dev")
set(CPACK_DEBIAN_LIBROPE_DEV_PACKAGE_GENERATE_SHLIBS OFF)
if(TARGET rope_tool)
  rope_package(rope_tools rope-tools utils
    "exact rotary position embeddings - command-line tool
Makes and checks tables of cosines and sines, rotates and permutes tensors in
files, and shows what a model's configuration means.")
  set(CPACK_DEBIAN_ROPE_TOOLS_PACKAGE_DEPENDS "${libraries}")
endif()
include(CPack)
