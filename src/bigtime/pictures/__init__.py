"""Pictures: uploads are checked, re-encoded in several sizes, and stored under a content hash.

The package knows neither deals nor HTTP; storing metadata about a picture is the caller's task.
"""

from typing import TYPE_CHECKING

from bigtime.wire import lazy_names

if TYPE_CHECKING:
    from bigtime.pictures.drawing import draw_logo, draw_product
    from bigtime.pictures.encoding import Encoded, Rendition
    from bigtime.pictures.files import MOST_BYTES, MOST_PIXELS, Header, PictureFault, read_header
    from bigtime.pictures.places import BucketPlace, FolderPlace, PicturePlace, place_at
    from bigtime.pictures.process import encode_upload

if not TYPE_CHECKING:  # Pillow is imported only where pictures are decoded or drawn
    __getattr__ = lazy_names(
        __name__,
        drawing="draw_logo draw_product",
        encoding="Encoded Rendition",
        files="MOST_BYTES MOST_PIXELS Header PictureFault read_header",
        places="BucketPlace FolderPlace PicturePlace place_at",
        process="encode_upload",
    )

__all__ = [
    "MOST_BYTES", "MOST_PIXELS", "BucketPlace", "Encoded", "FolderPlace", "Header", "PictureFault",
    "PicturePlace", "Rendition", "draw_logo", "draw_product", "encode_upload", "place_at",
    "read_header",
]
