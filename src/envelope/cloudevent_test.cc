// Held to the examples of the CloudEvents specification itself. A file in tests/golden/cloudevents has sections, each
// after a line of three dashes: the event in one or more forms, and the envelope that every one of them is read as.
#include "src/envelope/cloudevent.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "tests/fixtures/shown.h"

namespace onceward {
namespace {

namespace fs = std::filesystem;
using fixtures::shown;

using Sections = std::map<std::string, std::string>;

Sections sections_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  Sections sections;
  for (std::size_t at = text.find("--- "); at != std::string::npos;) {
    const std::size_t line_end = text.find('\n', at);
    const std::size_t next = text.find("\n--- ", line_end);
    const std::size_t end = next == std::string::npos ? text.size() - 1 : next;
    sections[text.substr(at + 4, line_end - at - 4)] = text.substr(line_end + 1, end - line_end - 1);
    at = next == std::string::npos ? next : next + 1;
  }
  return sections;
}

struct Transport {
  std::vector<Header> headers;
  std::string_view content_type;
  std::string_view body;
};

Transport transport_of(std::string_view text) {
  Transport message;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) break;
    const std::size_t colon = line.find(": ");
    const Header header{line.substr(0, colon), line.substr(colon + 2)};
    if (header.name == "content-type") {
      message.content_type = header.value;
    } else {
      message.headers.push_back(header);
    }
  }
  message.body = text;
  return message;
}

Envelope accepted(const ReadEnvelope& read) {
  const Refusal* refusal = std::get_if<Refusal>(&read);
  EXPECT_EQ(refusal, nullptr) << code(refusal->reason) << " " << refusal->detail;
  return refusal ? Envelope() : std::get<Envelope>(read);
}

std::vector<std::pair<std::string, std::string>> sorted(const Transport& message) {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const Header& header : message.headers) lines.emplace_back(header.name, header.value);
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::vector<std::pair<std::string, std::string>> sorted(const std::vector<BinaryAttribute>& attributes) {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const BinaryAttribute& attribute : attributes) lines.emplace_back(attribute.name, attribute.value);
  std::sort(lines.begin(), lines.end());
  return lines;
}

TEST(CloudEventGolden, TheExamplesOfTheSpecificationAreReadAndWritten) {
  std::size_t forms = 0;
  for (const auto& entry : fs::directory_iterator(ONCEWARD_SOURCE_DIRECTORY "/tests/golden/cloudevents")) {
    SCOPED_TRACE(entry.path().filename().string());
    const Sections sections = sections_of(entry.path());
    const std::string& expected = sections.at("envelope");
    for (const auto& [name, text] : sections) {
      if (name == "structured") {
        const Envelope read = accepted(read_cloudevent(Bytes::copy_of(text)));
        EXPECT_EQ(shown(read), expected);
        EXPECT_EQ(shown(accepted(read_cloudevent(Bytes::copy_of(write_cloudevent(read))))), expected);
        ++forms;
      } else if (name.starts_with("binary ")) {
        const std::string prefix = name.substr(7);
        const Transport message = transport_of(text);
        const Envelope read =
            accepted(read_cloudevent({message.headers, message.content_type, Bytes::copy_of(message.body)}, prefix));
        EXPECT_EQ(shown(read), expected);
        EXPECT_EQ(sorted(cloudevent_attributes(read, prefix)), sorted(message));
        ++forms;
      }
    }
  }
  EXPECT_GE(forms, 11u);
}

}  // namespace
}  // namespace onceward
