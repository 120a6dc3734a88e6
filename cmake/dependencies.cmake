# From Debian 12; the packages are listed in scripts/setup/packages. What the installed library needs is repeated in
# cmake/OncewardConfig.cmake.in.
find_package(Threads REQUIRED)
find_package(OpenSSL 3 REQUIRED COMPONENTS Crypto)
find_package(fmt REQUIRED)
find_package(simdjson REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(PostgreSQL REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(RABBITMQ REQUIRED IMPORTED_TARGET librabbitmq>=0.11)
pkg_check_modules(RDKAFKA REQUIRED IMPORTED_TARGET rdkafka>=2.0)

find_package(Boost 1.81 REQUIRED)  # headers only

if(ONCEWARD_APPS OR ONCEWARD_BENCH)
  find_package(CLI11 REQUIRED)
  find_package(nlohmann_json REQUIRED)
endif()
if(ONCEWARD_APPS)
  find_package(prometheus-cpp REQUIRED COMPONENTS core)
endif()
if(ONCEWARD_TESTS)
  find_package(GTest REQUIRED)
  find_package(rapidcheck REQUIRED)
  find_package(nlohmann_json REQUIRED)
endif()
