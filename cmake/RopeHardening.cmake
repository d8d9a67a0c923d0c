# SPDX-License-Identifier: Apache-2.0
# rope_hardened: what the libraries and the tool are compiled and linked with in optimised builds, each
# where the compiler has it.  tests/test_hardening.sh reads it off the result.
include(CheckCCompilerFlag)
include(CheckLinkerFlag)
include(CheckSourceCompiles)

add_library(rope_hardened INTERFACE)
set(hardening "")
foreach(flag -fstack-clash-protection -fcf-protection=full -mbranch-protection=standard)
  string(MAKE_C_IDENTIFIER ROPE_HAVE${flag} have)
  # Clang says "unused" where a target lacks what the option names.
  check_c_compiler_flag("-Werror ${flag}" ${have})
  if(${have})
    list(APPEND hardening ${flag})
  endif()
endforeach()
# Not where the user or the compiler has chosen a level already.
check_source_compiles(C "
#ifdef _FORTIFY_SOURCE
#error chosen
#endif
int main(void) { return 0; }" ROPE_MAY_FORTIFY)
if(ROPE_MAY_FORTIFY AND NOT ROPE_SANITIZE)
  list(APPEND hardening -D_FORTIFY_SOURCE=2)
endif()
target_compile_options(rope_hardened INTERFACE
  "$<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:${hardening}>")

target_link_options(rope_hardened INTERFACE
  LINKER:-z,relro LINKER:-z,now LINKER:-z,noexecstack)
# Said here, since the linker believes only in files that all say it, and Debian's crti.o does not.
if(ROPE_HAVE_fcf_protection_full)
  check_linker_flag(C LINKER:-z,shstk ROPE_HAVE_z_shstk)
  if(ROPE_HAVE_z_shstk)
    target_link_options(rope_hardened INTERFACE
      $<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:LINKER:-z,shstk>)
  endif()
endif()
