#include "apps/demo/gateway/book.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

namespace onceward::demo {
namespace {

using Json = nlohmann::ordered_json;

Order order_in(const Json& line) {
  return {line.at("capture").get<std::string>(), line.at("amount").get<std::int64_t>()};
}

}  // namespace

Book::Book(const std::string& path) {
  const std::size_t whole = read_back(path);
  file_ = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (file_ < 0 || ::ftruncate(file_, static_cast<off_t>(whole)) != 0) {
    throw std::system_error(errno, std::generic_category(), path);
  }
}

Book::~Book() { ::close(file_); }

int Book::see(const std::string& key, const Order& order) {
  write(Json{{"seen", key}, {"capture", order.capture}, {"amount", order.amount}}.dump());
  return ++seen_[key];
}

const Captured& Book::capture(const std::string& key, const Order& order) {
  if (const Captured* const before = find(key)) {
    write(Json{{"repeated", key}, {"reference", before->reference}}.dump());
    return *before;
  }
  const std::string reference = fmt::format("ch-{:06}", keys_.size() + 1);
  write(Json{{"captured", key}, {"capture", order.capture}, {"amount", order.amount}, {"reference", reference}}.dump());
  return remember(key, {order, reference});
}

const Captured* Book::ask(const std::string& key) {
  write(Json{{"asked", key}}.dump());
  return find(key);
}

const Captured* Book::find(const std::string& key) const {
  const auto found = captured_.find(key);
  return found == captured_.end() ? nullptr : &found->second;
}

// How many bytes of whole lines there are.
std::size_t Book::read_back(const std::string& path) {
  std::ifstream file(path);
  std::size_t whole = 0;
  for (std::string line; std::getline(file, line) && !file.eof(); whole += line.size() + 1) enter(line);
  return whole;
}

void Book::enter(const std::string& text) {
  const auto line = Json::parse(text);
  if (line.contains("seen")) ++seen_[line.at("seen").get<std::string>()];
  if (line.contains("captured")) {
    remember(line.at("captured").get<std::string>(), {order_in(line), line.at("reference").get<std::string>()});
  }
}

const Captured& Book::remember(const std::string& key, Captured captured) {
  keys_.push_back(key);
  return captured_.insert_or_assign(key, std::move(captured)).first->second;
}

// One call for a line, so that what it says is there whenever this process ends.
void Book::write(const std::string& line) const {
  const std::string text = line + "\n";
  if (::write(file_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    throw std::system_error(errno, std::generic_category(), "the gateway's log");
  }
}

}  // namespace onceward::demo
