# SPDX-License-Identifier: Apache-2.0
# Cross build for 32-bit x86 with Debian's compiler; an x86-64 kernel runs the programs.  The libraries are
# Debian's i386 packages, installed, or unpacked by i386-root.sh into the directory ROPE_I386_ROOT.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR i686)
set(CMAKE_C_COMPILER i686-linux-gnu-gcc)
set(CMAKE_LIBRARY_ARCHITECTURE i386-linux-gnu)
set(CMAKE_FIND_ROOT_PATH ${ROPE_I386_ROOT} /usr/i686-linux-gnu /)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/i386-linux-gnu/pkgconfig:/usr/share/pkgconfig)
if(ROPE_I386_ROOT)
  set(CMAKE_C_FLAGS_INIT "-isystem ${ROPE_I386_ROOT}/usr/include/i386-linux-gnu")
  set(CMAKE_EXE_LINKER_FLAGS_INIT -Wl,--disable-new-dtags) # a path for the libraries of libraries, too
endif()
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ROPE_I386_ROOT)
