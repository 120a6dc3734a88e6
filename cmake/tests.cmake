# Every test executable is <build>/tests/<name>_tests and is run from the root of the tree.
#   <folder>/*_test.cc beside the code   -> <stage>_tests, linked with that stage and those before it
#   tests/<kind>/*.cc                    -> <kind>_tests, linked with the whole library
#   tests/<kind>/programs/*.cc           -> one program each, found by the tests in ONCEWARD_TEST_PROGRAMS
#   tests/fixtures/*.cc                  -> linked into all tests of adapters, apps and tests/
#   tests/fuzz/<name>.cc                 -> fuzz_<name> (libFuzzer), or fuzz_<name>_tests that replays corpus/<name>
#   *_threads_test.cc                    -> also run under ThreadSanitizer (preset tsan builds only these)
enable_testing()

set(ONCEWARD_TEST_LIBRARIES GTest::gmock GTest::gtest GTest::gtest_main rapidcheck_gtest rapidcheck
  nlohmann_json::nlohmann_json)

set(ONCEWARD_TEST_DEFINITIONS
  ONCEWARD_SOURCE_DIRECTORY="${CMAKE_SOURCE_DIR}"
  ONCEWARD_TEST_PROGRAMS="${CMAKE_BINARY_DIR}/tests/programs")

onceward_precompile(test onceward_compile_user
  LIBRARIES onceward OpenSSL::Crypto fmt::fmt simdjson::simdjson tomlplusplus::tomlplusplus Threads::Threads
            PostgreSQL::PostgreSQL ${ONCEWARD_TEST_LIBRARIES}
  DEFINITIONS ${ONCEWARD_TEST_DEFINITIONS}
  HEADERS <filesystem> <random> <thread> <gmock/gmock.h> <gtest/gtest.h> <rapidcheck/gtest.h> <nlohmann/json.hpp>)

file(GLOB fixtures CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/fixtures/*.cc)
add_library(onceward_fixtures OBJECT ${fixtures})
onceward_compile_user(onceward_fixtures)
onceward_compile_together(onceward_fixtures)
target_compile_definitions(onceward_fixtures PRIVATE ${ONCEWARD_TEST_DEFINITIONS})
onceward_use_precompiled(test onceward_fixtures)
target_link_libraries(onceward_fixtures PUBLIC onceward PostgreSQL::PostgreSQL PkgConfig::RABBITMQ PkgConfig::RDKAFKA
  OpenSSL::Crypto fmt::fmt
  simdjson::simdjson tomlplusplus::tomlplusplus ${ONCEWARD_TEST_LIBRARIES})

function(onceward_test name sources)
  set(tests ${sources})
  if(ONCEWARD_THREADS_ONLY)
    list(FILTER tests INCLUDE REGEX "_threads_test\\.cc$")
    list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  endif()
  if(NOT tests)
    return()
  endif()
  list(APPEND sources ${tests})
  list(REMOVE_DUPLICATES sources)
  onceward_executable(${name}_tests ${sources})
  target_link_libraries(${name}_tests PRIVATE ${ARGN} OpenSSL::Crypto fmt::fmt simdjson::simdjson
    tomlplusplus::tomlplusplus Threads::Threads ${ONCEWARD_TEST_LIBRARIES})
  target_compile_definitions(${name}_tests PRIVATE ${ONCEWARD_TEST_DEFINITIONS})
  set_target_properties(${name}_tests PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  onceward_use_precompiled(test ${name}_tests)
  onceward_compile_together(${name}_tests)
  add_test(NAME ${name} COMMAND ${name}_tests WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
endfunction()

foreach(stage IN LISTS ONCEWARD_STAGES)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${stage}/*_test.cc)
  onceward_test(${stage} "${sources}" ${ONCEWARD_OBJECTS_UP_TO_${stage}})
endforeach()

foreach(adapter IN LISTS ONCEWARD_ADAPTERS)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/adapters/${adapter}/*_test.cc)
  onceward_test(${adapter} "${sources}" onceward_fixtures)
endforeach()

if(ONCEWARD_APPS)
  foreach(app cli daemon demo doctor)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/apps/${app}/*_test.cc)
    onceward_test(${app} "${sources}" onceward_fixtures onceward_app)
    if(TARGET ${app}_tests)
      add_dependencies(${app}_tests onceward_cli)
      target_compile_definitions(${app}_tests PRIVATE ONCEWARD_BINARY="${CMAKE_BINARY_DIR}/onceward")
    endif()
  endforeach()
endif()

file(GLOB kinds CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/tests ${CMAKE_SOURCE_DIR}/tests/*)
list(REMOVE_ITEM kinds fixtures fuzz install tidy)
foreach(kind IN LISTS kinds)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${kind}/*.cc)
  onceward_test(${kind} "${sources}" onceward_fixtures)
  file(GLOB programs CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${kind}/programs/*.cc)
  if(NOT TARGET ${kind}_tests)
    continue()
  endif()
  foreach(program IN LISTS programs)
    get_filename_component(name ${program} NAME_WE)
    onceward_executable(${name} ${program})
    target_link_libraries(${name} PRIVATE onceward PostgreSQL::PostgreSQL OpenSSL::SSL OpenSSL::Crypto fmt::fmt
      nlohmann_json::nlohmann_json Boost::headers Threads::Threads)
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/programs)
    add_dependencies(${kind}_tests ${name})
  endforeach()
endforeach()

# Servers that break are broken by the same hands everywhere.
foreach(name conformance_tests crash_tests daemon_tests demo_tests brokers_tests outages_tests debezium_tests)
  if(TARGET ${name})
    target_sources(${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests/faults/proxy.cc ${CMAKE_SOURCE_DIR}/tests/faults/server.cc)
  endif()
endforeach()
# What an HTTP endpoint calls there.
foreach(name conformance_tests cli_tests daemon_tests doctor_tests)
  if(TARGET ${name} AND TARGET misbehaving_server)
    add_dependencies(${name} misbehaving_server)
  endif()
endforeach()
if(TARGET conformance_tests)
  target_sources(conformance_tests PRIVATE ${CMAKE_SOURCE_DIR}/tests/brokers/kafka_server.cc)
endif()

if(TARGET outages_tests)
  target_sources(outages_tests PRIVATE ${CMAKE_SOURCE_DIR}/tests/brokers/rabbitmq_server.cc
    ${CMAKE_SOURCE_DIR}/tests/brokers/kafka_server.cc)
endif()
# What meets the program as its users do.
foreach(name drill_tests outages_tests relaying_tests)
  if(TARGET ${name})
    add_dependencies(${name} onceward_cli)
    target_compile_definitions(${name} PRIVATE ONCEWARD_BINARY="${CMAKE_BINARY_DIR}/onceward")
  endif()
endforeach()
if(TARGET drill_tests)
  add_dependencies(drill_tests misbehaving_server)  # the gateway
endif()

if(NOT ONCEWARD_THREADS_ONLY)
  include(fuzz)
endif()
