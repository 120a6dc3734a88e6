# apps/ -> the library Onceward::app and the binary `onceward`; apps/checker -> `onceward-checker`; examples/<name>/*.cc ->
# example_<name>; bench/<name>.cc -> bench_<name>.
if(ONCEWARD_APPS)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/apps/*.cc)
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER sources EXCLUDE REGEX "/main\\.cc$|/apps/checker/")
  if(ONCEWARD_BROKERS)
    list(FILTER sources EXCLUDE REGEX "/without_brokers/")
  else()
    list(FILTER sources EXCLUDE REGEX "/apps/demo/tutorial/")
  endif()
  add_library(onceward_app STATIC ${sources})
  add_library(Onceward::app ALIAS onceward_app)
  set_target_properties(onceward_app PROPERTIES EXPORT_NAME app)
  onceward_compile_user(onceward_app)
  onceward_compile_together(onceward_app)
  onceward_precompile(app onceward_compile_user
    LIBRARIES onceward nlohmann_json::nlohmann_json fmt::fmt prometheus-cpp::core Boost::headers
              Threads::Threads
    HEADERS <filesystem> <fstream> <thread> <nlohmann/json.hpp>)
  onceward_use_precompiled(app onceward_app)
  target_link_libraries(onceward_app PUBLIC onceward PRIVATE CLI11::CLI11 nlohmann_json::nlohmann_json fmt::fmt
    prometheus-cpp::core Boost::headers CURL::libcurl ${ONCEWARD_BROKER_LIBRARIES} Threads::Threads systemd)
  onceward_executable(onceward_cli apps/cli/main.cc)
  set_target_properties(onceward_cli PROPERTIES OUTPUT_NAME onceward)
  target_link_libraries(onceward_cli PRIVATE onceward_app)

  # Shares no line with what it checks.
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/apps/checker/*.cc)
  onceward_executable(onceward_checker ${sources})
  onceward_compile_together(onceward_checker)
  set_target_properties(onceward_checker PROPERTIES OUTPUT_NAME onceward-checker)
  target_link_libraries(onceward_checker PRIVATE onceward_sqlite3 PostgreSQL::PostgreSQL fmt::fmt
    nlohmann_json::nlohmann_json)
  add_dependencies(onceward_cli onceward_checker)  # the demo starts it
endif()

if(ONCEWARD_EXAMPLES)
  file(GLOB examples CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/examples ${CMAKE_SOURCE_DIR}/examples/*/*.cc)
  set(names)
  foreach(source IN LISTS examples)
    get_filename_component(name ${source} DIRECTORY)
    list(APPEND names ${name})
  endforeach()
  list(REMOVE_DUPLICATES names)
  foreach(name IN LISTS names)
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/examples/${name}/*.cc)
    onceward_executable(example_${name} ${sources})
    target_link_libraries(example_${name} PRIVATE Onceward::onceward PostgreSQL::PostgreSQL
      $<TARGET_NAME_IF_EXISTS:onceward_app>)
    set_target_properties(example_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/examples)
  endforeach()
endif()

if(ONCEWARD_BENCH)
  # What lies in folders of bench/ (floor and what all of them share) is linked into each of them.
  file(GLOB shared CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bench/*/*.cc)
  file(GLOB benches CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bench/*.cc)
  set(bench_libraries Onceward::onceward PostgreSQL::PostgreSQL OpenSSL::Crypto fmt::fmt CLI11::CLI11
    nlohmann_json::nlohmann_json PkgConfig::RABBITMQ PkgConfig::RDKAFKA CURL::libcurl Boost::headers Threads::Threads)
  if(shared)
    add_library(bench_shared OBJECT ${shared})
    onceward_compile_user(bench_shared)
    onceward_use_precompiled(app bench_shared)
    target_link_libraries(bench_shared PUBLIC ${bench_libraries})
  endif()
  foreach(source IN LISTS benches)
    get_filename_component(name ${source} NAME_WE)
    onceward_executable(bench_${name} ${source})
    onceward_use_precompiled(app bench_${name})
    target_link_libraries(bench_${name} PRIVATE $<TARGET_NAME_IF_EXISTS:bench_shared> ${bench_libraries})
    set_target_properties(bench_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
  endforeach()
endif()
