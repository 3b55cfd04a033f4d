"""What a page shows is copied onto its item; when the original changes, the copies follow."""

from bigtime.model import (
    Entity,
    Keys,
    System,
    Table,
    all_of,
    pattern,
    put_many,
    setup,
    together,
    update,
)
from bigtime.store import open_store
from bigtime.wire import Steps

LIBRARY = Table("Library", "PK", "SK", type_attribute="Type")


class Author(Entity, table=LIBRARY):
    keys = Keys(main=("AUTHOR#{author_id}", "AUTHOR#{author_id}"))
    author_id: str
    name: str


class Book(Entity, table=LIBRARY):
    keys = Keys(main=("AUTHOR#{author_id}", "BOOK#{title}"))
    author_id: str
    title: str
    author_name: str


@pattern("Rename Author", index="Main table")
def rename_author(author_id: str, name: str) -> Steps[int]:
    """The author, then each of the books that show the name."""
    yield from update(Author.key(author_id), name=name)
    books = yield from all_of(Book.within("main", author_id=author_id))
    yield from together(*(update(book, author_name=name) for book in books))
    return len(books)


with open_store("memory:") as store:
    store.run(setup(System("library", (LIBRARY,))))
    titles = ["Emma", "Persuasion", "Sanditon"]
    store.run(put_many([Author(author_id="ja", name="A Lady")]))
    store.run(put_many(Book(author_id="ja", title=one, author_name="A Lady") for one in titles))

    print(store.run(rename_author("ja", "Jane Austen")), "books renamed")
    for book in store.run(all_of(Book.within("main", author_id="ja"))):
        print(f"{book.title}, by {book.author_name}")
