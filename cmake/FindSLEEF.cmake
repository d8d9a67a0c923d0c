# SPDX-License-Identifier: Apache-2.0
# Finds SLEEF and gives the target SLEEF::sleef, SLEEF_FOUND and SLEEF_VERSION.
#
# Three ways, the first that works: SLEEF's own CMake package (upstream since 3.6, Debian 13), hints of
# pkg-config (Debian 12), a plain search.  -DSLEEF_ROOT=<prefix> points all of them at a prefix.
include(FindPackageHandleStandardArgs)

if(NOT TARGET SLEEF::sleef)
  # The package is spelled in lower case; on a file system that tells cases apart "SLEEF" finds nothing.
  find_package(sleef CONFIG QUIET HINTS ${SLEEF_ROOT})
  if(TARGET sleef::sleef)
    get_target_property(SLEEF_INCLUDE_DIR sleef::sleef INTERFACE_INCLUDE_DIRECTORIES)
    list(GET SLEEF_INCLUDE_DIR 0 SLEEF_INCLUDE_DIR)
    set(SLEEF_LIBRARY sleef::sleef)
    # Not an ALIAS: the compile probes of CMake do not see aliases of imported targets.
    add_library(SLEEF::sleef INTERFACE IMPORTED)
    set_target_properties(SLEEF::sleef PROPERTIES INTERFACE_LINK_LIBRARIES sleef::sleef)
  else()
    find_package(PkgConfig QUIET)
    if(PKG_CONFIG_FOUND)
      pkg_check_modules(PC_SLEEF QUIET sleef)
    endif()
    find_path(SLEEF_INCLUDE_DIR sleef.h
      HINTS ${SLEEF_ROOT} ${PC_SLEEF_INCLUDE_DIRS} ${PC_SLEEF_INCLUDEDIR}
      PATH_SUFFIXES include include/${CMAKE_LIBRARY_ARCHITECTURE} ${CMAKE_LIBRARY_ARCHITECTURE})
    find_library(SLEEF_LIBRARY sleef
      HINTS ${SLEEF_ROOT} ${PC_SLEEF_LIBRARY_DIRS} ${PC_SLEEF_LIBDIR}
      PATH_SUFFIXES lib lib/${CMAKE_LIBRARY_ARCHITECTURE})
    if(SLEEF_INCLUDE_DIR AND SLEEF_LIBRARY)
      add_library(SLEEF::sleef UNKNOWN IMPORTED)
      set_target_properties(SLEEF::sleef PROPERTIES
        IMPORTED_LOCATION "${SLEEF_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${SLEEF_INCLUDE_DIR}")
    endif()
    mark_as_advanced(SLEEF_INCLUDE_DIR SLEEF_LIBRARY)
  endif()

  # The header knows its version; the .pc file of Debian 12 does not.
  set(SLEEF_VERSION "${sleef_VERSION}")
  if(EXISTS "${SLEEF_INCLUDE_DIR}/sleef.h")
    file(STRINGS "${SLEEF_INCLUDE_DIR}/sleef.h" lines
      REGEX "^#define SLEEF_VERSION_(MAJOR|MINOR|PATCHLEVEL) +[0-9]+")
    string(REGEX MATCHALL "[0-9]+" numbers "${lines}")
    list(JOIN numbers "." SLEEF_VERSION)
  endif()
endif()

find_package_handle_standard_args(SLEEF
  REQUIRED_VARS SLEEF_LIBRARY SLEEF_INCLUDE_DIR VERSION_VAR SLEEF_VERSION)
