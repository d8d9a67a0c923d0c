# SPDX-License-Identifier: Apache-2.0
# Which kernel sets this build has.  A set is built when the compiler takes its flags and SLEEF has the
# function that it calls: both are asked by linking a program, since distributions leave variants out.
#
# Gives ROPE_SETS (their names), ROPE_COMPILED_SETS (scalar_fma besides: the set "scalar" compiled a
# second time), ROPE_FLAGS_<name>, ROPE_KERNEL_SOURCES and ROPE_SET_DEFINITIONS (ROPE_HAVE_*).
# To add a set: one call of rope_set() at the end of this file.
include(CheckSourceCompiles)

set(ROPE_COMPILED_SETS "")
set(ROPE_KERNEL_SOURCES "")
set(ROPE_SET_DEFINITIONS "")

# rope_set(<name> <flags> <probe>): the set <name>, compiled with <flags>, if <probe> links.
macro(rope_set name flags probe)
  string(TOUPPER ${name} upper)
  set(CMAKE_REQUIRED_QUIET ON)
  set(CMAKE_REQUIRED_FLAGS "${flags}")
  set(CMAKE_REQUIRED_LIBRARIES SLEEF::sleef m)
  check_source_compiles(C "${probe}" ROPE_CAN_BUILD_${upper})
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

# sleef.h declares the functions with fma only where the compiler says that fma is fast.
set(probe_scalar_fma "
#define FP_FAST_FMA 1
#define FP_FAST_FMAF 1
#include <sleef.h>
int main(int argc, char **argv)
{
    (void)argv;
    return (int)Sleef_finz_sincospid1_u05purecfma(argc).x;
}")

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  rope_set(scalar "" "
#include <sleef.h>
int main(int argc, char **argv)
{
    (void)argv;
    return (int)Sleef_cinz_sincospid1_u05purec(argc).x;
}")
  rope_set(scalar_fma "-mfma" "${probe_scalar_fma}")
  rope_set(avx2 "-mavx2 -mfma -mf16c" "
#include <immintrin.h>
#include <sleef.h>
int main(int argc, char **argv)
{
    (void)argv;
    return (int)_mm256_cvtsd_f64(Sleef_finz_sincospid4_u05avx2(_mm256_set1_pd(argc)).x);
}")
  rope_set(avx512 "-mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx2 -mfma -mf16c" "
#include <immintrin.h>
#include <sleef.h>
int main(int argc, char **argv)
{
    (void)argv;
    return (int)_mm512_cvtsd_f64(Sleef_finz_sincospid8_u05avx512f(_mm512_set1_pd(argc)).x);
}")
  rope_set(avx512_bf16
    "-mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512bf16 -mavx2 -mfma -mf16c" "
#include <immintrin.h>
int main(int argc, char **argv)
{
    (void)argv;
    const __m512 v = _mm512_set1_ps((float)argc);
    return ((short *)&(__m512i[]){(__m512i)_mm512_cvtne2ps_pbh(v, v)})[0] == 0;
}")
else()
  rope_set(scalar "" "${probe_scalar_fma}")
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  rope_set(neon "" "
#include <arm_neon.h>
#include <sleef.h>
int main(int argc, char **argv)
{
    (void)argv;
    return (int)vgetq_lane_f64(Sleef_finz_sincospid2_u05advsimd(vdupq_n_f64(argc)).x, 0);
}")
endif()

if(NOT ROPE_CAN_BUILD_SCALAR)
  message(FATAL_ERROR "SLEEF lacks the function that the scalar set calls: "
    "Sleef_cinz_sincospid1_u05purec on x86, Sleef_finz_sincospid1_u05purecfma elsewhere")
endif()
set(ROPE_SETS ${ROPE_COMPILED_SETS})
# "scalar" and "avx512" compiled a second time, for CPUs that can do more.
list(REMOVE_ITEM ROPE_SETS scalar_fma avx512_bf16)
list(JOIN ROPE_SETS " " set_names)
message(STATUS "Kernel sets: ${set_names} (SLEEF ${SLEEF_VERSION})")
