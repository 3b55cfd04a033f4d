"""The demo data's pictures: one of each product and a logo of each brand, drawn on demand.

The title of a deal identifies its product: brand, product and finish. Several deals share a
picture; the demo data as a whole counts as a user of it, so that it stays when an editor replaces
one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from bigtime import model as bt
from bigtime import pictures
from bigtime.pictures import Encoded, PicturePlace
from bigtime.site.design import PictureUse
from bigtime.site.pictures import picture_of, write_files
from bigtime.systems import deals

TARGET = "demo"


@dataclass(frozen=True, slots=True)
class DemoPictures:
    """Draws pictures and stores their files."""

    place: PicturePlace
    drawn: dict[str, deals.Picture] = field(default_factory=dict)

    def add_to(self, entities: Iterable[bt.Entity]) -> Iterator[bt.Entity]:
        """The entities, with pictures, and a `PictureUse` for each."""
        for entity in entities:
            yield self.with_picture(entity)
        for digest in dict.fromkeys(picture.digest for picture in self.drawn.values()):
            yield PictureUse(digest=digest, target=TARGET)

    def with_picture(self, entity: bt.Entity) -> bt.Entity:
        match entity:
            case deals.Deal():
                return entity.model_copy(update={"picture": self.of_deal(entity)})
            case deals.Brand(name=name):
                logo = self.draw(f"logo {name}", pictures.draw_logo, name)
                return entity.model_copy(update={"picture": logo})
            case deals.Category() | deals.FrontPage() | deals.EditorsChoice():
                featured = [
                    each.model_copy(update={"picture": self.of_deal(each)})
                    for each in entity.featured_deals
                ]
                return entity.model_copy(update={"featured_deals": featured})
        return entity

    def of_deal(self, deal: deals.Deal | deals.FeaturedDeal) -> deals.Picture:
        product = deal.title.removeprefix(f"{deal.brand_name} ").rpartition(", ")[0]
        return self.draw(product, pictures.draw_product, product)

    def draw(self, key: str, how: Callable[[str], Encoded], name: str) -> deals.Picture:
        found = self.drawn.get(key)
        if found is None:
            encoded = how(name)
            write_files(self.place, encoded)
            found = self.drawn[key] = picture_of(encoded)
        return found
