# The tree is the architecture: a stage may include only what stands before it in this list. tests/tidy reads it too.
set(ONCEWARD_STAGES common declaration envelope wire source inbox effect outbox quarantine unit records worker relay dispatch ingress)
set(ONCEWARD_ADAPTERS sqlite postgres embedded memory callback curl http smtp rabbitmq kafka)

set(ONCEWARD_LIBRARIES OpenSSL::Crypto fmt::fmt simdjson::simdjson tomlplusplus::tomlplusplus Threads::Threads)
onceward_precompile(library onceward_compile LIBRARIES ${ONCEWARD_LIBRARIES})

set(ONCEWARD_OBJECTS)  # every object library so far, in order

# One folder, one object library onceward_<name>: all its .cc except the tests. A folder without code makes none.
function(onceward_objects name folder)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.cc)
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  if(NOT sources)
    return()
  endif()
  add_library(onceward_${name} OBJECT ${sources})
  onceward_compile(onceward_${name})
  onceward_compile_together(onceward_${name})
  target_link_libraries(onceward_${name} PUBLIC
    ${ONCEWARD_LIBRARIES} ${ARGN})
  onceward_use_precompiled(library onceward_${name})
  set(ONCEWARD_OBJECTS ${ONCEWARD_OBJECTS} onceward_${name} PARENT_SCOPE)
endfunction()

foreach(stage IN LISTS ONCEWARD_STAGES)
  onceward_objects(${stage} src/${stage})
  set(ONCEWARD_OBJECTS_UP_TO_${stage} ${ONCEWARD_OBJECTS})
endforeach()
set(ONCEWARD_STAGE_OBJECTS ${ONCEWARD_OBJECTS})

onceward_objects(sqlite adapters/sqlite onceward_sqlite3)
set(ONCEWARD_OBJECTS_UP_TO_sqlite ${ONCEWARD_OBJECTS})
onceward_objects(postgres adapters/postgres PostgreSQL::PostgreSQL)
set(ONCEWARD_OBJECTS_UP_TO_postgres ${ONCEWARD_OBJECTS})
onceward_objects(embedded adapters/embedded onceward_sqlite3)
set(ONCEWARD_OBJECTS_UP_TO_embedded ${ONCEWARD_OBJECTS})
onceward_objects(memory adapters/memory)
set(ONCEWARD_OBJECTS_UP_TO_memory ${ONCEWARD_OBJECTS})
onceward_objects(callback adapters/callback)
set(ONCEWARD_OBJECTS_UP_TO_callback ${ONCEWARD_OBJECTS})
foreach(adapter curl http smtp)
  onceward_objects(${adapter} adapters/${adapter} CURL::libcurl)
  set(ONCEWARD_OBJECTS_UP_TO_${adapter} ${ONCEWARD_OBJECTS})
endforeach()

if(ONCEWARD_BROKERS)
  onceward_objects(rabbitmq adapters/rabbitmq PkgConfig::RABBITMQ)
  set(ONCEWARD_OBJECTS_UP_TO_rabbitmq ${ONCEWARD_OBJECTS})
  onceward_objects(kafka adapters/kafka PkgConfig::RDKAFKA)
  set(ONCEWARD_OBJECTS_UP_TO_kafka ${ONCEWARD_OBJECTS})
else()
  onceward_objects(without_brokers adapters/without_brokers)
endif()

set_source_files_properties(src/declaration/boost_url.cc PROPERTIES
  COMPILE_OPTIONS -w SKIP_PRECOMPILE_HEADERS ON)  # not ours to warn about
set_source_files_properties(src/common/version.cc PROPERTIES
  COMPILE_DEFINITIONS ONCEWARD_VERSION="${PROJECT_VERSION}")

add_library(onceward STATIC)
add_library(Onceward::onceward ALIAS onceward)
foreach(objects IN LISTS ONCEWARD_OBJECTS)
  target_sources(onceward PRIVATE $<TARGET_OBJECTS:${objects}>)
endforeach()
target_compile_features(onceward PUBLIC cxx_std_20)
target_include_directories(onceward PUBLIC
  $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(onceward PUBLIC onceward_sqlite3
  PRIVATE OpenSSL::Crypto fmt::fmt simdjson::simdjson tomlplusplus::tomlplusplus PostgreSQL::PostgreSQL
          CURL::libcurl ${ONCEWARD_BROKER_LIBRARIES} Threads::Threads)
target_link_options(onceward PUBLIC ${ONCEWARD_SANITIZERS})
