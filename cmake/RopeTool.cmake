# SPDX-License-Identifier: Apache-2.0
# The command-line tool.  It uses the public interface only.
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
list(JOIN ROPE_SETS " " set_names)
add_executable(rope_tool
  src/tool/apply.c
  src/tool/check.c
  src/tool/config.c
  src/tool/element.c
  src/tool/expected.c
  src/tool/figures.c
  src/tool/fixed.c
  src/tool/gguf.c
  src/tool/info.c
  src/tool/inspect.c
  src/tool/json.c
  src/tool/main.c
  src/tool/model.c
  src/tool/models.c
  src/tool/npy.c
  src/tool/options.c
  src/tool/output.c
  src/tool/page.c
  src/tool/permute.c
  src/tool/projection.c
  src/tool/request.c
  src/tool/safetensors.c
  src/tool/say.c
  src/tool/table.c
  src/tool/verify.c
  src/tool/view.c)
target_compile_definitions(rope_tool PRIVATE
  "ROPE_TOOL_SETS=\"${set_names}\"" "ROPE_TOOL_SLEEF=\"${ROPE_SLEEF}\"")
target_link_libraries(rope_tool PRIVATE rope_flags rope_hardened rope_exact rope Threads::Threads m)
if(TARGET rope_config)
  target_compile_definitions(rope_tool PRIVATE ROPE_TOOL_CONFIG)
  target_link_libraries(rope_tool PRIVATE rope_config)
endif()
set_target_properties(rope_tool PROPERTIES OUTPUT_NAME rope)
if(NOT DEFINED CMAKE_INSTALL_RPATH) # a moved installation still finds its libraries
  file(RELATIVE_PATH to_libraries ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set_target_properties(rope_tool PROPERTIES INSTALL_RPATH "$ORIGIN/${to_libraries}")
endif()
if(ROPE_INSTALL)
  install(TARGETS rope_tool RUNTIME COMPONENT rope_tools)
endif()
