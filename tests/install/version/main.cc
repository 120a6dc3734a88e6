#include <onceward/version.h>
#include <sqlite3.h>

#include <iostream>

int main() {
  std::cout << "Onceward " << onceward::version() << " with SQLite " << sqlite3_libversion() << '\n';
  return sqlite3_libversion_number() >= 3051003 ? 0 : 1;
}
