# SPDX-License-Identifier: Apache-2.0
# Which kernel sets this build has.  A set is built when the compiler takes its flags and SLEEF has the
# function that it calls: both are asked by linking a program, since distributions leave variants out.
#
# Gives ROPE_SETS (their names), ROPE_COMPILED_SETS (scalar_fma besides: the set "scalar" compiled a
# second time), ROPE_FLAGS_<name>, ROPE_KERNEL_SOURCES, ROPE_SET_DEFINITIONS (ROPE_HAVE_*) and
# ROPE_ARCHITECTURE_FLAGS, without which arithmetic on this architecture is not that of IEEE 754.
# To add a set: one call of rope_set() at the end of this file.
include(CheckSourceCompiles)

set(ROPE_COMPILED_SETS "")
set(ROPE_KERNEL_SOURCES "")
set(ROPE_SET_DEFINITIONS "")
set(ROPE_ARCHITECTURE_FLAGS "")

# What the compiler makes code for: with -m32 that is not what CMake takes for the processor.
foreach(architecture x86_64 i386 aarch64)
  check_source_compiles(C "
#ifndef __${architecture}__
#error another one
#endif
int main(void) { return 0; }" ROPE_IS_${architecture})
endforeach()
if(ROPE_IS_i386) # its older arithmetic rounds twice, and callers need not align the stack for the newer one
  set(ROPE_ARCHITECTURE_FLAGS -msse2 -mfpmath=sse -mstackrealign)
endif()

# rope_set(<name> <flags> <header> <value> [<function of SLEEF>]): the set <name>, compiled with <flags>, if
# a program links that computes <function>(<value>).  <value> is made of the int `one`.
macro(rope_set name flags header value)
  string(TOUPPER ${name} upper)
  set(expression "${value}")
  set(sleef "")
  if(ROPE_WITH_SLEEF AND ${ARGC} GREATER 4)
    set(expression "${ARGV4}(${value})")
    # sleef.h declares the functions with fma only where the compiler says that fma is fast.
    set(sleef "
#define FP_FAST_FMA 1
#define FP_FAST_FMAF 1
#include <sleef.h>")
  endif()
  list(JOIN ROPE_ARCHITECTURE_FLAGS " " all_flags)
  set(CMAKE_REQUIRED_QUIET ON)
  set(CMAKE_REQUIRED_FLAGS "${all_flags} ${flags}")
  set(CMAKE_REQUIRED_LIBRARIES ${rope_needs})
  check_source_compiles(C "
#include <${header}>${sleef}
int main(int one, char **arguments)
{
    (void)arguments;
    const __typeof__(${expression}) result = ${expression};
    return *(const unsigned char *)&result;
}" ROPE_CAN_BUILD_${upper})
  unset(CMAKE_REQUIRED_FLAGS)
  unset(CMAKE_REQUIRED_LIBRARIES)
  unset(CMAKE_REQUIRED_QUIET)
  if(ROPE_CAN_BUILD_${upper})
    list(APPEND ROPE_COMPILED_SETS ${name})
    list(APPEND ROPE_KERNEL_SOURCES kernels/kernels_${name}.c)
    list(APPEND ROPE_SET_DEFINITIONS ROPE_HAVE_${upper})
    separate_arguments(ROPE_FLAGS_${name} UNIX_COMMAND "${flags}")
    set_source_files_properties(kernels/kernels_${name}.c PROPERTIES
      COMPILE_OPTIONS "${ROPE_FLAGS_${name}}")
  else()
    message(STATUS "Set ${name}: not built, compiler or SLEEF lacks it")
  endif()
endmacro()

if(ROPE_IS_x86_64 OR ROPE_IS_i386)
  rope_set(scalar "" stddef.h "(double)one" Sleef_cinz_sincospid1_u05purec)
  rope_set(scalar_fma "-mfma" immintrin.h "_mm_cvtsd_f64(_mm_fmadd_sd(_mm_set_sd(one), _mm_set_sd(one), _mm_set_sd(one)))"
    Sleef_finz_sincospid1_u05purecfma)
else()
  rope_set(scalar "" stddef.h "(double)one" Sleef_finz_sincospid1_u05purecfma)
endif()
if(ROPE_IS_x86_64)
  set(avx2 "-mavx2 -mfma -mf16c")
  set(avx512 "-mavx512f -mavx512bw -mavx512dq -mavx512vl")
  rope_set(avx2 "${avx2}" immintrin.h "_mm256_set1_pd(one)" Sleef_finz_sincospid4_u05avx2)
  rope_set(avx512 "${avx512} ${avx2}" immintrin.h "_mm512_set1_pd(one)"
    Sleef_finz_sincospid8_u05avx512f)
  rope_set(avx512_bf16 "${avx512} -mavx512bf16 ${avx2}" immintrin.h
    "_mm512_cvtne2ps_pbh(_mm512_set1_ps((float)one), _mm512_set1_ps((float)one))")
endif()
if(ROPE_IS_aarch64)
  rope_set(neon "" arm_neon.h "vdupq_n_f64(one)" Sleef_finz_sincospid2_u05advsimd)
endif()

if(NOT ROPE_CAN_BUILD_SCALAR)
  message(FATAL_ERROR "SLEEF lacks the function that the scalar set calls: "
    "Sleef_cinz_sincospid1_u05purec on x86, Sleef_finz_sincospid1_u05purecfma elsewhere")
endif()
set(ROPE_SETS ${ROPE_COMPILED_SETS})
# "scalar" and "avx512" compiled a second time, for CPUs that can do more.
list(REMOVE_ITEM ROPE_SETS scalar_fma avx512_bf16)
list(JOIN ROPE_SETS " " set_names)
message(STATUS "Kernel sets: ${set_names} (SLEEF ${ROPE_SLEEF})")
