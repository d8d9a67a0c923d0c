# SPDX-License-Identifier: Apache-2.0
# One library of ours: shared, static or both, with its exports, installation and pkg-config file.
#
# BUILD_SHARED_LIBS, on unless the user or a project around this one turns it off, decides what <name> is;
# <name>_static exists as well with ROPE_BUILD_STATIC.  The names outside are rope::<export> and
# rope::<export>_static.
include(RopeHardening)

set(ROPE_SHARED ON)
if(DEFINED BUILD_SHARED_LIBS AND NOT BUILD_SHARED_LIBS)
  set(ROPE_SHARED OFF)
endif()
set(ROPE_EXPORTS "")

# rope_library(<name> <file> OBJECTS <target>... HEADER <file> [PUBLIC <library of ours>] PRIVATE <library>...)
function(rope_library name file)
  cmake_parse_arguments(arg "" "HEADER;PUBLIC" "OBJECTS;PRIVATE" ${ARGN})
  list(TRANSFORM arg_OBJECTS REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>")
  string(REGEX REPLACE "^rope_" "" export ${name})
  string(REPLACE "-" "_" component lib${file})

  if(ROPE_SHARED)
    set(map ${PROJECT_SOURCE_DIR}/src/lib${file}.map)
    add_library(${name} SHARED ${arg_OBJECTS})
    target_link_libraries(${name} PRIVATE rope_flags rope_hardened ${arg_PRIVATE} PUBLIC ${arg_PUBLIC})
    target_link_options(${name} PRIVATE LINKER:--version-script=${map} LINKER:--exclude-libs,ALL)
    if(NOT ROPE_SANITIZE) # clang leaves the symbols of its sanitizers to the program
      target_link_options(${name} PRIVATE LINKER:-z,defs)
    endif()
    set_target_properties(${name} PROPERTIES
      VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} LINK_DEPENDS ${map})
    if(NOT DEFINED CMAKE_INSTALL_RPATH)
      set_target_properties(${name} PROPERTIES INSTALL_RPATH "$ORIGIN")
    endif()
    rope_export(${name} ${export} ${file} ${component})
  endif()

  if(ROPE_BUILD_STATIC OR NOT ROPE_SHARED)
    add_library(${name}_static STATIC ${arg_OBJECTS})
    target_link_libraries(${name}_static PRIVATE ${arg_PRIVATE})
    if(arg_PUBLIC)
      target_link_libraries(${name}_static PUBLIC ${arg_PUBLIC}_static)
    endif()
    target_compile_definitions(${name}_static INTERFACE ROPE_STATIC)
    set_target_properties(${name}_static PROPERTIES LINKER_LANGUAGE C)
    rope_export(${name}_static ${export}_static ${file} ${component})
    if(NOT ROPE_SHARED)
      add_library(${name} ALIAS ${name}_static)
      add_library(rope::${export} ALIAS ${name}_static)
    endif()
  endif()
  if(ROPE_INSTALL)
    install(FILES include/rope/${arg_HEADER} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/rope
      COMPONENT librope_dev)
  endif()
  set(ROPE_EXPORTS ${ROPE_EXPORTS} PARENT_SCOPE)
endfunction()

# What shared and static libraries have in common.  Each has an export set of its own, so that a package
# can offer the one where what the other needs is missing.
macro(rope_export target export file component)
  add_library(rope::${export} ALIAS ${target})
  target_include_directories(${target} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${file} EXPORT_NAME ${export})
  if(ROPE_INSTALL)
    install(TARGETS ${target} EXPORT rope-${export}
      LIBRARY COMPONENT ${component} NAMELINK_COMPONENT librope_dev ARCHIVE COMPONENT librope_dev)
    list(APPEND ROPE_EXPORTS ${export})
  endif()
endmacro()
