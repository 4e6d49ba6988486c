#!/usr/bin/env python3
"""How many public items a user of the library sees: the entries of the page "all items" of its documentation.

    cargo doc --no-deps -p throng && tools/public_items.py            the number
    tools/public_items.py --list                                      the items, too
"""

import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def items(crate):
    with open(os.path.join(ROOT, "target", "doc", crate, "all.html"), encoding="utf-8") as page:
        return re.findall(r'<li><a href="([^"]+)\.html">', page.read())


if __name__ == "__main__":
    found = items("throng")
    if "--list" in sys.argv[1:]:
        print("\n".join(found))
    print(len(found))
