from pathlib import Path

from bigtime.model import Entity, Keys, System, Table, put, search, setup
from bigtime.projections.search import Follower, Query, open_backend
from bigtime.store import open_store

BOOKS = Table("Books", "isbn", stream="NEW_AND_OLD_IMAGES")


class Book(Entity, table=BOOKS):
    keys = Keys(main="{isbn}")
    isbn: str
    title: str
    shelf: str
    price: int
    pages: int

    @property
    def pages_for_the_price(self) -> float:
        return self.pages / self.price


BOOK_SEARCH = search(
    Book, text=("title",), facets=("shelf",), sort=("price", "pages_for_the_price")
)
SYSTEM = System("library", (BOOKS,), searches=(BOOK_SEARCH,))

with open_store() as store:
    store.run(setup(SYSTEM))
    store.run(put(Book(isbn="1", title="The Lighthouse", shelf="NOVELS", price=9, pages=180)))
    store.run(put(Book(isbn="2", title="Lighthouses", shelf="TRAVEL", price=30, pages=240)))

    index = open_backend(f"folder:{Path.cwd() / 'search'}", BOOK_SEARCH)
    Follower(store, index).run_round()  # in a worker, again and again

    page = index.reader().find(Query("lighthuose", sort="-pages_for_the_price"))
    print(page.total, page.corrections, page.facets["shelf"])
    for hit in page.hits:
        print(hit.key, hit.highlights["title"])
