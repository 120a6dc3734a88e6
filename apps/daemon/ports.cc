#include "apps/daemon/ports.h"

#include <algorithm>
#include <stdexcept>

#include "onceward/adapter/embedded.h"
#include "onceward/adapter/postgres.h"
#include "onceward/adapter/sqlite.h"

namespace onceward::daemon {

std::unique_ptr<Store> open_store(const std::string& url, std::chrono::milliseconds bound) {
  if (url.starts_with("postgres://") || url.starts_with("postgresql://")) {
    PostgresOptions options;
    options.url = url;
    options.statement_deadline = bound;
    options.lock_deadline = std::min(options.lock_deadline, bound);
    return open_postgres(options);
  }
  if (url.starts_with("sqlite:")) {
    SqliteOptions options;
    options.path = url.substr(7);
    options.statement_deadline = bound;
    return open_sqlite(options);
  }
  throw std::invalid_argument("a store is postgres://user@host/database or sqlite:PATH");
}

std::unique_ptr<Source> open_source(const std::string& url, const EnvelopeLimits& limits) {
  if (url.starts_with("embedded:")) {
    EmbeddedOptions options = read_embedded_url(url);
    options.limits = limits;
    return open_embedded(options);
  }
  throw std::invalid_argument("this build has no source but embedded:PATH");
}

}  // namespace onceward::daemon
