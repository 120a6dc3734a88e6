# From Debian 12; the packages are listed in scripts/setup/packages. What the installed library needs is repeated in
# cmake/OncewardConfig.cmake.in.
find_package(Threads REQUIRED)
find_package(OpenSSL 3 REQUIRED COMPONENTS Crypto)
find_package(fmt REQUIRED)
find_package(simdjson REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(PostgreSQL REQUIRED)

if(ONCEWARD_APPS OR ONCEWARD_BENCH)
  find_package(CLI11 REQUIRED)
  find_package(nlohmann_json REQUIRED)
endif()
if(ONCEWARD_TESTS)
  find_package(GTest REQUIRED)
  find_package(rapidcheck REQUIRED)
  find_package(nlohmann_json REQUIRED)
endif()
