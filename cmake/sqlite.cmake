# The pinned amalgamation as one library. It is installed with ours, because a caller who hands us a sqlite3* must have
# opened it with the very same library.
set(sqlite_directory ${CMAKE_SOURCE_DIR}/.deps/sqlite)
file(STRINGS ${CMAKE_SOURCE_DIR}/scripts/setup/sqlite.pin sqlite_pin REGEX "^SQLITE_C_SHA256=")
string(REPLACE "SQLITE_C_SHA256=" "" sqlite_pin "${sqlite_pin}")
if(NOT EXISTS ${sqlite_directory}/sqlite3.c)
  message(FATAL_ERROR "SQLite is not there yet: ./run setup fetches it into .deps/sqlite")
endif()
file(SHA256 ${sqlite_directory}/sqlite3.c sqlite_hash)
if(NOT sqlite_hash STREQUAL sqlite_pin)
  message(FATAL_ERROR ".deps/sqlite/sqlite3.c is not the version pinned in scripts/setup/sqlite.pin: run ./run setup")
endif()

add_library(onceward_sqlite3 STATIC ${sqlite_directory}/sqlite3.c)
add_library(Onceward::sqlite3 ALIAS onceward_sqlite3)
set_target_properties(onceward_sqlite3 PROPERTIES EXPORT_NAME sqlite3)
# Optimised in every preset: an unoptimised SQLite makes each test wait, and its bugs are not what we look for.
set(ONCEWARD_SQLITE_OPTIMISED -O2 CACHE STRING "How SQLite is optimised")
target_compile_options(onceward_sqlite3 PRIVATE ${ONCEWARD_SQLITE_OPTIMISED} -w)
target_compile_definitions(onceward_sqlite3 PRIVATE
  SQLITE_THREADSAFE=2 SQLITE_DQS=0 SQLITE_DEFAULT_FOREIGN_KEYS=0 SQLITE_DEFAULT_MEMSTATUS=0
  SQLITE_LIKE_DOESNT_MATCH_BLOBS SQLITE_OMIT_DEPRECATED SQLITE_OMIT_LOAD_EXTENSION SQLITE_OMIT_SHARED_CACHE
  SQLITE_USE_ALLOCA SQLITE_MAX_EXPR_DEPTH=200)
target_include_directories(onceward_sqlite3 SYSTEM PUBLIC
  $<BUILD_INTERFACE:${sqlite_directory}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/onceward/sqlite>)
target_link_libraries(onceward_sqlite3 PUBLIC Threads::Threads m)
