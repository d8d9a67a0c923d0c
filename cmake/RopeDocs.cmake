# SPDX-License-Identifier: Apache-2.0
# Manual pages, installed always; the reference in HTML, target `docs`, installed once it has been made or,
# with ROPE_BUILD_DOCS, made by every build; the bill of materials, target `sbom`.
option(ROPE_BUILD_DOCS "Make the reference with every build (needs Doxygen)" OFF)

# ---- Manual pages ---------------------------------------------------------------------------------

# rope_install_page(<page> <component>): as every name in its NAME section.
function(rope_install_page page component)
  get_filename_component(file ${page} NAME)
  get_filename_component(main ${page} NAME_WLE)
  get_filename_component(section ${page} LAST_EXT)
  string(SUBSTRING ${section} 1 -1 section)
  set(files ${page})
  file(STRINGS ${page} lines REGEX "^\\.(Nm|Sh) ")
  set(in_name OFF)
  foreach(line IN LISTS lines)
    if(line MATCHES "^\\.Sh (.*)")
      string(COMPARE EQUAL "${CMAKE_MATCH_1}" NAME in_name)
    elseif(in_name AND line MATCHES "^\\.Nm ([a-z_]+)" AND NOT CMAKE_MATCH_1 STREQUAL main)
      set(alias ${PROJECT_BINARY_DIR}/man/${CMAKE_MATCH_1}.${section})
      file(CONFIGURE OUTPUT ${alias} CONTENT ".so man${section}/${file}\n")
      list(APPEND files ${alias})
    endif()
  endforeach()
  install(FILES ${files} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section} COMPONENT ${component})
endfunction()

if(ROPE_INSTALL)
  file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/man/*.3)
  if(NOT TARGET rope_config)
    list(FILTER pages EXCLUDE REGEX "/rope_config_[a-z_]*\\.3$")
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${pages})
  foreach(page IN LISTS pages)
    rope_install_page(${page} librope_dev)
  endforeach()
  if(TARGET rope_tool)
    rope_install_page(${PROJECT_SOURCE_DIR}/cmake/man/rope.1 rope_tools)
  endif()
endif()

if(NOT PROJECT_IS_TOP_LEVEL) # the targets below belong to whoever builds this by itself
  return()
endif()

# ---- Reference ------------------------------------------------------------------------------------

if(ROPE_BUILD_DOCS)
  find_package(Doxygen 1.9 REQUIRED)
else()
  find_package(Doxygen 1.9 QUIET)
endif()
if(DOXYGEN_FOUND)
  set(DOXYGEN_PROJECT_NAME librope)
  set(DOXYGEN_PROJECT_BRIEF "${PROJECT_DESCRIPTION}")
  set(DOXYGEN_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/docs)
  set(DOXYGEN_STRIP_FROM_PATH ${PROJECT_SOURCE_DIR}/include)
  set(DOXYGEN_STRIP_FROM_INC_PATH ${PROJECT_SOURCE_DIR}/include)
  # The headers have plain comments.
  set(DOXYGEN_INPUT_FILTER "awk -f ${PROJECT_SOURCE_DIR}/cmake/doxygen.awk")
  set(DOXYGEN_OPTIMIZE_OUTPUT_FOR_C YES)
  set(DOXYGEN_TYPEDEF_HIDES_STRUCT YES)
  set(DOXYGEN_JAVADOC_AUTOBRIEF YES)
  set(DOXYGEN_MACRO_EXPANSION YES)
  set(DOXYGEN_EXPAND_ONLY_PREDEF YES)
  set(DOXYGEN_PREDEFINED "ROPE_API=")
  set(DOXYGEN_EXCLUDE_SYMBOLS ROPE_API)
  set(DOXYGEN_HAVE_DOT NO)
  set(DOXYGEN_HTML_TIMESTAMP NO)
  set(DOXYGEN_QUIET YES)
  set(DOXYGEN_WARN_AS_ERROR FAIL_ON_WARNINGS)
  if(ROPE_BUILD_DOCS)
    set(all ALL)
  endif()
  doxygen_add_docs(docs include/rope/rope.h include/rope/rope_config.h ${all}
    COMMENT "Making the reference: docs/html/index.html")
  if(ROPE_INSTALL)
    install(DIRECTORY ${PROJECT_BINARY_DIR}/docs/html DESTINATION ${CMAKE_INSTALL_DOCDIR}
      COMPONENT librope_dev OPTIONAL)
  endif()
endif()

# ---- Bill of materials ----------------------------------------------------------------------------

find_program(ROPE_REUSE reuse)
mark_as_advanced(ROPE_REUSE)
if(ROPE_REUSE)
  set(dependencies "")
  if(ROPE_WITH_SLEEF)
    list(APPEND dependencies sleef ${ROPE_SLEEF} BSL-1.0)
  endif()
  if(TARGET rope_config)
    file(STRINGS ${JANSSON_INCLUDE_DIR}/jansson.h version REGEX "^#define JANSSON_VERSION ")
    string(REGEX REPLACE "[^0-9.]" "" version "${version}")
    list(APPEND dependencies jansson ${version} MIT)
  endif()
  add_custom_target(sbom VERBATIM
    COMMAND sh ${PROJECT_SOURCE_DIR}/cmake/sbom.sh ${ROPE_REUSE} ${PROJECT_VERSION}
      ${PROJECT_BINARY_DIR}/librope.spdx ${dependencies}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    COMMENT "Writing the bill of materials: librope.spdx")
endif()
