#include "apps/checker/broker.h"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <sstream>
#include <stdexcept>

namespace checker {
namespace {

// In single quotes of the shell.
std::string quoted_word(const std::string& text) {
  std::string inside;
  for (const char c : text) inside += c == '\'' ? std::string(R"('\'')") : std::string(1, c);
  return "'" + inside + "'";
}

// Of all that a tool has said: its error, and not the warnings before and the places in its code behind it.
std::string error_in(const std::string& text) {
  const std::size_t begin = text.find("Error");
  const std::size_t from = begin == std::string::npos ? 0 : begin;
  return text.substr(from, text.find('\n', from) - from);
}

std::string answer_of(const Run& run, const std::string& question) {
  const std::string command =
      quoted_word(run.broker_script) + " tool " + quoted_word(run.broker_directory) + " " + question + " 2>&1";
  std::FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("no shell for " + command);
  std::string text;
  std::array<char, 4096> some{};
  while (const std::size_t size = std::fread(some.data(), 1, some.size(), pipe)) text.append(some.data(), size);
  if (pclose(pipe) != 0 || text.find("\nError: ") != std::string::npos) {
    throw std::runtime_error(fmt::format("{} does not answer ({}): {}", run.broker, command, error_in(text)));
  }
  return text;
}

// Of the state of the queue itself: `list_queues` says 0 for five seconds after a start, whatever there is.
std::int64_t left_in_rabbitmq(const Run& run) {
  const std::string expression = fmt::format(
      "{{ok, Queue}} = rabbit_amqqueue:lookup(rabbit_misc:r(<<\"/\">>, queue, <<\"{}\">>)), "
      "case amqqueue:get_type(Queue) of "
      "rabbit_quorum_queue -> {{ok, Messages, _}} = "
      "ra:consistent_query(amqqueue:get_pid(Queue), fun rabbit_fifo:query_messages_total/1); "
      "rabbit_classic_queue -> [{{messages, Messages}}] = rabbit_amqqueue:info(Queue, [messages]) end, Messages.",
      run.queue);
  std::istringstream lines(answer_of(run, "-q eval " + quoted_word(expression)));
  std::int64_t left = 0;
  if (!(lines >> left)) throw std::runtime_error("rabbitmq does not answer: " + lines.str());
  return left;
}

// Of a group that has never committed: all that is in its topic, which has its name. TOPIC:PARTITION:END-OFFSET
std::int64_t all_in_topic(const Run& run) {
  std::istringstream lines(answer_of(run, "GetOffsetShell --topic " + quoted_word(run.queue)));
  std::int64_t all = 0;
  int partitions = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t end = line.rfind(':');
    if (!line.starts_with(run.queue + ":") || end == std::string::npos) continue;
    all += std::stoll(line.substr(end + 1));
    ++partitions;
  }
  if (partitions == 0) throw std::runtime_error("kafka knows neither a group nor a topic " + run.queue);
  return all;
}

// GROUP  TOPIC  PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  ...; nothing committed is a dash.
std::int64_t left_in_kafka(const Run& run) {
  std::istringstream lines(
      answer_of(run, "consumer.group.ConsumerGroupCommand --describe --group " + quoted_word(run.queue)));
  std::int64_t left = 0;
  int partitions = 0;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string group, topic, partition, current, end;
    if (!(words >> group >> topic >> partition >> current >> end) || group != run.queue) continue;
    left += std::stoll(end) - (current == "-" ? 0 : std::stoll(current));
    ++partitions;
  }
  return partitions == 0 ? all_in_topic(run) : left;
}

}  // namespace

std::int64_t left_in_broker(const Run& run) {
  return run.broker == "kafka" ? left_in_kafka(run) : left_in_rabbitmq(run);
}

}  // namespace checker
