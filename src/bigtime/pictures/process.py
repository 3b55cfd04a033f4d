"""The process that decodes a picture: `python -m bigtime.pictures.process`, the file on stdin.

It writes the widths, heights and lengths of all sizes as a line of JSON, and then their bytes; or
a sentence that says why the picture cannot be used.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Final

import orjson

from bigtime.confinement import confine_to, limit_resources, run_confined
from bigtime.extras import extra
from bigtime.pictures.encoding import Encoded, Rendition, encode_file
from bigtime.pictures.files import INCOMPLETE, PictureFault

MEMORY_BYTES: Final = 1024 * 2**20
CPU_SECONDS: Final = 20
SECONDS: Final = 60.0


class EncoderFailed(Exception):
    """The process could not start, or failed for its own reasons; the picture may be fine."""


def encode_upload(content: bytes) -> Encoded:
    """Encodes a picture in a separate process; raises PictureFault if it cannot be used."""
    try:
        done = run_confined(__name__, content, seconds=SECONDS)
    except subprocess.TimeoutExpired:
        raise PictureFault(INCOMPLETE) from None
    if done.returncode > 0:
        raise EncoderFailed(done.stderr.decode(errors="replace").strip().rpartition("\n")[2])
    if done.returncode < 0:  # killed by a resource limit, or by a decoder's crash
        raise PictureFault(INCOMPLETE)
    line, _, files = done.stdout.partition(b"\n")
    answer = orjson.loads(line)
    if "fault" in answer:
        raise PictureFault(answer["fault"])
    renditions: list[Rendition] = []
    for width, height, length in answer["sizes"]:
        renditions.append(Rendition(width, height, files[:length]))
        files = files[length:]
    return Encoded(tuple(renditions))


def main() -> None:
    with extra("site"):
        from PIL import Image, ImageCms, ImageOps  # noqa: F401 - later no module can be imported
    Image.init()
    limit_resources(MEMORY_BYTES, CPU_SECONDS)
    confine_to()
    content = sys.stdin.buffer.read()
    try:
        encoded = encode_file(content)
    except PictureFault as fault:
        sys.stdout.buffer.write(orjson.dumps({"fault": str(fault)}))
        return
    sizes = [(each.width, each.height, len(each.content)) for each in encoded.renditions]
    sys.stdout.buffer.write(orjson.dumps({"sizes": sizes}, option=orjson.OPT_APPEND_NEWLINE))
    for each in encoded.renditions:
        sys.stdout.buffer.write(each.content)


if __name__ == "__main__":
    main()
