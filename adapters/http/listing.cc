#include "adapters/http/listing.h"

#include <fmt/format.h>

#include "adapters/curl/limits.h"
#include "adapters/http/classify.h"
#include "adapters/http/request.h"
#include "src/common/timestamp.h"

namespace onceward::http {
namespace {

Fault refused_list(std::string_view what) { return curl::refused("http", fmt::format("the list: {}", what)); }

std::string read_page(const Plan& plan, const std::string& url) {
  const auto page = new_page(plan, url);
  page->ended(curl_easy_perform(page->easy()));
  const curl::Ending& ending = page->ending();
  if (ending.cut) throw refused_list(why(*page));
  const bool away = ending.code != CURLE_OK || ending.status == 429 || ending.status >= 500;
  if (away) {
    throw Fault(FaultCode::endpoint_unavailable, Poisons::connection,
                fmt::format("http: the list cannot be read: {}", why(*page)));
  }
  if (ending.status < 200 || ending.status > 299) throw refused_list(why(*page));
  return page->response();
}

void add_records(const ListPlan& plan, std::string_view page, std::vector<EndpointRecord>& records) {
  const auto items = elements_at(page, plan.items);
  if (!items) throw refused_list("the answer has no array where list.items points to");
  for (const std::string_view item : *items) {
    EndpointRecord record{text_at(item, plan.key).value_or(""), ""};
    if (plan.reference) record.external_ref = text_at(item, *plan.reference).value_or("");
    if (record.key.empty() && record.external_ref.empty()) {
      throw refused_list("an item has nothing where list.key and list.reference point to");
    }
    if (records.size() == most_items) {
      throw refused_list(fmt::format("it has more than {} items; ask for those since a later time", most_items));
    }
    records.push_back(std::move(record));
  }
}

}  // namespace

std::vector<EndpointRecord> list(const Plan& plan, Timestamp since) {
  std::vector<EndpointRecord> records;
  auto url = curl::Url::read(plan.list->url.filled({write_timestamp(since)}).value_or(""));
  if (!url) throw refused_list("its URL is too long");
  const std::string place = url->place();
  for (std::size_t pages = 0; pages < most_pages; ++pages) {
    const std::string page = read_page(plan, url->text());
    add_records(*plan.list, page, records);
    const auto next = plan.list->next ? text_at(page, *plan.list->next) : std::nullopt;
    if (!next) return records;
    auto followed = url->followed(*next);
    if (!followed || followed->place() != place) throw refused_list("the next page is said to be on another host");
    url = std::move(followed);
  }
  throw refused_list(fmt::format("it has more than {} pages; ask for those since a later time", most_pages));
}

}  // namespace onceward::http
