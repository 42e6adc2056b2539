"""Builds a wheel with the binary, which `pip install` puts into the environment's `bin`.

    wheel.py STAGE VERSION OUT [--static] [--fast]

A static binary runs on any Linux with the same architecture; a dynamically linked one needs a C library like that of this machine.
"""

import base64
import hashlib
import os
import pathlib
import sys
import time
import zipfile

NAME = "asterisk_rca"

stage, version, out = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
if "--static" in sys.argv[4:]:
    platforms = ["manylinux2014_x86_64", "manylinux_2_17_x86_64", "musllinux_1_1_x86_64"]
else:
    platforms = ["linux_x86_64"]

info = f"{NAME}-{version}.dist-info"
readme = (stage / "README.md").read_text()
metadata = f"""Metadata-Version: 2.4
Name: asterisk-rca
Version: {version}
Summary: Reads a failed CI launch and reports why it failed
License-Expression: Apache-2.0
License-File: LICENSE
License-File: THIRD-PARTY.txt
Requires-Python: >=3.7
Description-Content-Type: text/markdown

{readme}"""
tags = "".join(f"Tag: py3-none-{platform}\n" for platform in platforms)
wheel = f"Wheel-Version: 1.0\nGenerator: asterisk packaging\nRoot-Is-Purelib: false\n{tags}"
files = [
    (f"{NAME}-{version}.data/scripts/asterisk", (stage / "asterisk").read_bytes(), 0o755),
    (f"{info}/METADATA", metadata.encode(), 0o644),
    (f"{info}/WHEEL", wheel.encode(), 0o644),
    (f"{info}/licenses/LICENSE", (stage / "LICENSE").read_bytes(), 0o644),
    (f"{info}/licenses/THIRD-PARTY.txt", (stage / "THIRD-PARTY.txt").read_bytes(), 0o644),
]

record = ""
for name, data, _ in files:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    record += f"{name},sha256={digest},{len(data)}\n"
record += f"{info}/RECORD,,\n"
files.append((f"{info}/RECORD", record.encode(), 0o644))

# ZIP cannot store times before 1980.
moment = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), 315532800))[:6]
path = out / f"{NAME}-{version}-py3-none-{'.'.join(platforms)}.whl"
with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1 if "--fast" in sys.argv[4:] else 9) as archive:
    for name, data, mode in files:
        entry = zipfile.ZipInfo(name, moment)
        entry.external_attr = (0o100000 | mode) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        archive.writestr(entry, data)
