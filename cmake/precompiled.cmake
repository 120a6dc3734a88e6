# The heavy headers are read once for each kind of code, not once for each file: that is half of a build. Without
# (-DONCEWARD_PRECOMPILED=OFF) an include that is missing is found.
set(ONCEWARD_STANDARD_HEADERS
  <algorithm> <array> <charconv> <chrono> <deque> <functional> <map> <memory> <optional> <set> <span> <string>
  <string_view> <variant> <vector> <fmt/format.h>)

# onceward_precompile(<kind> <compile> LIBRARIES <library>... HEADERS <header>...): the target onceward_<kind>_headers, compiled as
# <compile> compiles its users.
function(onceward_precompile kind compile)
  if(NOT ONCEWARD_PRECOMPILED)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 2 of "" "" "LIBRARIES;HEADERS;DEFINITIONS")
  set(target onceward_${kind}_headers)
  file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/${kind}_headers.cc CONTENT "")
  add_library(${target} OBJECT EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/${kind}_headers.cc)
  cmake_language(CALL ${compile} ${target})
  target_link_libraries(${target} PRIVATE ${of_LIBRARIES})
  target_compile_definitions(${target} PRIVATE ${of_DEFINITIONS})
  target_precompile_headers(${target} PRIVATE ${ONCEWARD_STANDARD_HEADERS} ${of_HEADERS})
endfunction()

function(onceward_use_precompiled kind target)
  if(TARGET onceward_${kind}_headers)
    target_precompile_headers(${target} REUSE_FROM onceward_${kind}_headers)
  endif()
endfunction()
