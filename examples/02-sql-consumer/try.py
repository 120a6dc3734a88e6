"""Runs the example and looks at what is left. Usage: try.py PROGRAM"""

import pathlib
import sys

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent))
import trying

shop, set_aside = trying.consumer(sys.argv[1], here, 2)
assert shop.execute("SELECT message, amount FROM capture ORDER BY message").fetchall() == [("m-1", 250), ("m-2", 40)]
assert shop.execute("SELECT captured FROM invoice ORDER BY id").fetchall() == [(290,), (0,)]
assert set_aside == {"m-3": "ill_typed_field", "m-4": "number_out_of_range"}, set_aside
