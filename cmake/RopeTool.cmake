# SPDX-License-Identifier: Apache-2.0
# The command-line tool.  It uses the public interface only.
list(JOIN ROPE_SETS " " set_names)
add_executable(rope_tool
  src/tool/main.c)
target_compile_definitions(rope_tool PRIVATE
  "ROPE_TOOL_SETS=\"${set_names}\"" "ROPE_TOOL_SLEEF=\"${SLEEF_VERSION}\"")
target_link_libraries(rope_tool PRIVATE rope_flags rope m)
set_target_properties(rope_tool PROPERTIES OUTPUT_NAME rope)
install(TARGETS rope_tool)
