// What makes a declaration right. One set of rules for files and for C++: a finding names the key it is about, and the
// reader of a file finds the line to it.
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "onceward/declaration.h"
#include "src/declaration/path.h"

namespace onceward::declaration {

struct Finding {
  Path path;
  std::string message;
  std::string hint;
  std::vector<Path> also = {};  // what it depends on besides; while any part of that is unreadable, it says nothing
  bool about_key = false;       // about the key itself and not its value
};

class Findings {
 public:
  void add(Path path, std::string message, std::string hint, std::initializer_list<Path> also = {}) {
    all_.push_back({std::move(path), std::move(message), std::move(hint), also});
  }
  void add_about_key(Path path, std::string message, std::string hint, std::initializer_list<Path> also = {}) {
    all_.push_back({std::move(path), std::move(message), std::move(hint), also, true});
  }
  // `reason` says why the limit is there.
  void within(const Path& path, std::int64_t value, std::int64_t least, std::int64_t most, std::string_view reason);
  const std::vector<Finding>& all() const { return all_; }

 private:
  std::vector<Finding> all_;
};

std::vector<Finding> find_in(const Declaration& declaration);
std::vector<Finding> find_in(const RouteDeclaration& route);
std::vector<Finding> find_in(const EndpointDeclaration& endpoint);
std::vector<Finding> find_in_relay(const RelayDeclaration& relay, bool used);
// Of a consumer among the others in its file. Where no endpoint or no route is declared, another process has them.
std::vector<Finding> find_in_calls(const Declaration& declaration, const std::vector<EndpointDeclaration>& endpoints);
std::vector<Finding> find_in_dead_letters(const Declaration& declaration, const std::vector<RouteDeclaration>& routes);
std::vector<Finding> find_in_ingress(const IngressDeclaration& ingress, const std::vector<Declaration>& consumers);
std::vector<Finding> find_in_store(std::string_view url);  // about store.url
std::vector<Finding> find_in_admin(const AdminDeclaration& admin);
std::vector<Finding> find_in_shutdown(std::chrono::milliseconds drain);

// The parts, each in the file of its name.
void check_identity(const IdentityPolicy& identity, std::size_t most_id_bytes, const Path& path, Findings& findings);
void check_fields(const std::vector<FieldDeclaration>& fields, const Path& path, Findings& findings);
void check_sql(const std::vector<std::string>& statements, const Path& path, Findings& findings);
void check_retry(const RetryBudget& retry, const Path& path, Findings& findings);
void check_duration(const Path& path, std::chrono::milliseconds value, std::chrono::milliseconds least,
                    std::chrono::milliseconds most, std::string_view reason, Findings& findings);
void check_target_url(std::string_view url, const Path& path, Findings& findings);
void check_source_url(std::string_view url, const Path& path, Findings& findings);
void check_endpoint_url(std::string_view url, const Path& path, Findings& findings);
void check_web_url(std::string_view url, const Path& path, Findings& findings);  // of a look-up or a list
void check_store_url(std::string_view url, const Path& path, Findings& findings);
void check_calls(const Declaration& declaration, const Path& path, Findings& findings);
void check_offsets(const Declaration& declaration, Findings& findings);
void check_horizon(const HorizonInputs& horizon, const RetryBudget& retry, const Path& path, Findings& findings);

inline constexpr std::size_t most_consumers = 256;
inline constexpr std::size_t most_routes = 256;
inline constexpr std::size_t most_types = 1'000;  // of a route
inline constexpr std::size_t most_endpoints = 64;
inline constexpr std::size_t most_endpoint_headers = 50;
inline constexpr std::size_t most_fields = 64;
inline constexpr std::size_t most_calls = 32;  // of a consumer
inline constexpr std::size_t most_body_template_bytes = std::size_t{64} << 10;
inline constexpr std::size_t most_body_template_depth = 32;
inline constexpr std::size_t most_effects = 64;
inline constexpr std::size_t most_statements = 32;
inline constexpr std::size_t most_statement_bytes = std::size_t{64} << 10;
inline constexpr std::size_t most_volatile_fields = 64;
inline constexpr int most_scale = 18;  // of a decimal that fits into 64 bits

}  // namespace onceward::declaration
