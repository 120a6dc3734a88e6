// The file of an embedded queue: opening it, its tables, its transactions. What goes wrong in it is a Fault of a source.
// Belongs to one thread.
//
//   queue     the queues by name, and how far each has come
//   message   the bytes of what was sent and not yet settled. Its position is the number of its queue in the upper bits and
//             the number of the message in the lower 42: messages of one queue lie together, in the order of sending
//   delivery  what was handed out, by the time when it may be handed out again (0: at once). What was never handed out has
//             no row: it is what lies between `handed` and `published` of its queue
//
// A delivery is named by its position and its time. Whoever takes a message after that time gives it a later one, so an
// answer that comes too late finds nothing.
#pragma once

#include <sqlite3.h>

#include <string>
#include <utility>

#include "adapters/sqlite/connection.h"
#include "onceward/adapter/embedded.h"

namespace onceward::embedded {

inline constexpr int file_application = 0x4F'4E'43'51;  // "ONCQ", SQLite's application_id
inline constexpr int file_version = 1;                  // SQLite's user_version
inline constexpr int position_bits = 42;

// What SQLite said, as somebody who waits for messages must hear it.
Fault as_source_fault(const Fault& fault, const std::string& path);

class QueueFile {
 public:
  // Opens the file, or creates it. A file that is not ours is left as it is.
  explicit QueueFile(const EmbeddedOptions& options);

  sqlite::Statement& statement(std::string_view sql) { return connection_.own(sql); }
  bool usable() const { return connection_.usable(); }
  const std::string& path() const { return path_; }

  // Without a transaction, for one statement that reads.
  template <class Work>
  void read(Work&& work) {
    try {
      work();
    } catch (const Fault& fault) {
      throw failed(fault);
    }
  }

  // In a transaction that is durable on return. After a throw it has left nothing or, if the disk failed, maybe all.
  template <class Work>
  void write(Work&& work) {
    const Undo undo{connection_};
    read([&] {
      connection_.begin();
      work();
      commit();
    });
  }

 private:
  struct Undo {
    sqlite::Connection& connection;
    ~Undo() { connection.roll_back(); }
  };

  void create_tables();
  void commit();
  Fault failed(const Fault& fault);

  const std::string path_;
  sqlite::Connection connection_;
};

}  // namespace onceward::embedded
