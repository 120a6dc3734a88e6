// Reads what callgrind writes (its format is in valgrind's manual, "Callgrind Format Specification").
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace onceward::bench {

struct FunctionName {
  std::string object;  // the file of the program or library
  std::string function;
  friend auto operator<=>(const FunctionName&, const FunctionName&) = default;
};

struct Profile {
  std::map<FunctionName, std::int64_t> instructions;  // of the function itself
  std::map<FunctionName, std::int64_t> news;          // calls of operator new
};

Profile read_callgrind(const std::string& path);
// What `later` has more.
Profile difference(const Profile& earlier, const Profile& later);

}  // namespace onceward::bench
