# How our own code is compiled. Third-party code (SQLite) does not go through onceward_compile().
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# SQLite is our only C: the same flags in every preset, so that ccache compiles it once.
set(CMAKE_C_FLAGS_DEBUG "")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "")

find_program(ONCEWARD_CCACHE ccache)
if(ONCEWARD_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Without the directory in the hash, two build directories of one checkout share their objects.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_NOHASHDIR=true CCACHE_DEPEND=true
    CCACHE_SLOPPINESS=pch_defines,time_macros ${ONCEWARD_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()

find_program(ONCEWARD_MOLD mold)
if(ONCEWARD_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

set(ONCEWARD_WARNINGS
  -Werror -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wold-style-cast -Wcast-qual
  -Wnon-virtual-dtor -Woverloaded-virtual -Wextra-semi -Wformat=2 -Wimplicit-fallthrough)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND ONCEWARD_WARNINGS -Wduplicated-cond -Wduplicated-branches -Wlogical-op -Wsuggest-override)
  if(ONCEWARD_SANITIZE)
    # gcc 12 finds these in the standard library once the sanitizers have rewritten it.
    list(APPEND ONCEWARD_WARNINGS -Wno-maybe-uninitialized -Wno-restrict)
  endif()
else()
  # The std::stable_sort of libstdc++ 12 uses what it has deprecated itself; gcc keeps watch over our own calls.
  list(APPEND ONCEWARD_WARNINGS -Wunreachable-code -Wsuggest-override -Wthread-safety -Wno-deprecated-declarations)
endif()

if(ONCEWARD_SANITIZE)
  set(ONCEWARD_SANITIZERS -fsanitize=${ONCEWARD_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
endif()

# Our warnings, our sanitizers, and includes from the root of the tree ("src/inbox/batch.h").
function(onceward_compile target)
  target_compile_options(${target} PRIVATE ${ONCEWARD_WARNINGS} ${ONCEWARD_SANITIZERS})
  if(ONCEWARD_FUZZ)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
  onceward_include(${target})
endfunction()

function(onceward_include target)
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR})
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    target_compile_options(${target} PRIVATE -fPIC)  # as libraries are, so that both can use one precompiled header
    target_link_options(${target} PRIVATE ${ONCEWARD_SANITIZERS})
  endif()
endfunction()

# The same for code that only uses the library: tests, commands, benches. Half of their build would be the instrumentation
# of GoogleTest's templates by UBSan, which is not what we look for.
function(onceward_compile_user target)
  string(REPLACE "address,undefined" "address" sanitizers "${ONCEWARD_SANITIZERS}")
  if(sanitizers)
    list(APPEND sanitizers -g1)
  endif()
  target_compile_options(${target} PRIVATE ${ONCEWARD_WARNINGS} ${sanitizers})
  onceward_include(${target})
endfunction()

# Most of what is compiled are the templates and inline functions of the standard library, GoogleTest, CLI11 and JSON: once
# for a few files is enough.
function(onceward_compile_together target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
endfunction()

# An executable that uses the library.
function(onceward_executable target)
  add_executable(${target} ${ARGN})
  onceward_compile_user(${target})
endfunction()
