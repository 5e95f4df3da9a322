"""Reads property lists with plistlib and says what is in them, one line each; writes them anew, in both formats.

Usage: plist_dump.py DIRECTORY. For each N.plist: a line "N dump", and the files N.xml and N.bin from plistlib.
"""

import datetime
import os
import plistlib
import random
import struct
import sys


def dump(value):
    if isinstance(value, bool):
        return "b1" if value else "b0"
    if isinstance(value, str):
        return "s" + value.encode().hex()
    if isinstance(value, int):
        return "i%d" % value
    if isinstance(value, float):
        return "rnan" if value != value else "r%x" % struct.unpack(">Q", struct.pack(">d", value))
    if isinstance(value, datetime.datetime):
        return "d%04d-%02d-%02dT%02d:%02d:%02d.%06dZ" % (
            value.year, value.month, value.day, value.hour, value.minute, value.second, value.microsecond)
    if isinstance(value, bytes):
        return "x" + value.hex()
    if isinstance(value, list):
        return "[" + ",".join(map(dump, value)) + "]"
    entries = sorted((key.encode().hex(), dump(item)) for key, item in value.items())
    return "{" + ",".join("%s:%s" % entry for entry in entries) + "}"


directory = sys.argv[1]
for name in sorted(os.listdir(directory)):
    number, extension = os.path.splitext(name)
    if extension != ".plist":
        continue
    with open(os.path.join(directory, name), "rb") as file:
        # plistlib guesses the format from the first bytes, and takes a comment there for neither.
        is_binary = file.read(6) == b"bplist"
        file.seek(0)
        entries = plistlib.load(file, fmt=plistlib.FMT_BINARY if is_binary else plistlib.FMT_XML)
    print(number, dump(entries))
    for extension, form in (".xml", plistlib.FMT_XML), (".bin", plistlib.FMT_BINARY):
        with open(os.path.join(directory, number + extension), "wb") as file:
            plistlib.dump(entries, file, fmt=form, sort_keys=random.random() < 0.5)
