# SPDX-License-Identifier: Apache-2.0
# Finds Jansson and gives the target Jansson::jansson and Jansson_FOUND, by hints of pkg-config or a plain
# search.  -DJansson_ROOT=<prefix> points both at a prefix.
include(FindPackageHandleStandardArgs)

find_package(PkgConfig QUIET)
if(PKG_CONFIG_FOUND)
  pkg_check_modules(PC_JANSSON QUIET jansson)
endif()
find_path(JANSSON_INCLUDE_DIR jansson.h HINTS ${PC_JANSSON_INCLUDE_DIRS} ${PC_JANSSON_INCLUDEDIR})
find_library(JANSSON_LIBRARY jansson HINTS ${PC_JANSSON_LIBRARY_DIRS} ${PC_JANSSON_LIBDIR})
mark_as_advanced(JANSSON_INCLUDE_DIR JANSSON_LIBRARY)
find_package_handle_standard_args(Jansson REQUIRED_VARS JANSSON_LIBRARY JANSSON_INCLUDE_DIR)

if(Jansson_FOUND AND NOT TARGET Jansson::jansson)
  add_library(Jansson::jansson UNKNOWN IMPORTED)
  set_target_properties(Jansson::jansson PROPERTIES
    IMPORTED_LOCATION "${JANSSON_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${JANSSON_INCLUDE_DIR}")
endif()
