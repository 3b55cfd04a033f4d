"""What a page shows is copied onto its item; when the original changes, the copies follow."""

import bigtime as bt

LIBRARY = bt.Table("Library", "PK", "SK", type_attribute="Type")


class Author(bt.Entity, table=LIBRARY):
    keys = bt.Keys(main=("AUTHOR#{author_id}", "AUTHOR#{author_id}"))
    author_id: str
    name: str


class Book(bt.Entity, table=LIBRARY):
    keys = bt.Keys(main=("AUTHOR#{author_id}", "BOOK#{title}"))
    author_id: str
    title: str
    author_name: str


@bt.pattern("Rename Author", index="Main table")
def rename_author(author_id: str, name: str) -> bt.Steps[int]:
    """The author, then each of the books that show the name."""
    yield from bt.update(Author.key(author_id), name=name)
    books = yield from bt.all_of(Book.within("main", author_id=author_id))
    yield from bt.together(*(bt.update(book, author_name=name) for book in books))
    return len(books)


with bt.open_store("memory:") as store:
    store.run(bt.setup(bt.System("library", (LIBRARY,))))
    titles = ["Emma", "Persuasion", "Sanditon"]
    store.run(bt.put_many([Author(author_id="ja", name="A Lady")]))
    store.run(
        bt.put_many(Book(author_id="ja", title=title, author_name="A Lady") for title in titles)
    )

    print(store.run(rename_author("ja", "Jane Austen")), "books renamed")
    for book in store.run(bt.all_of(Book.within("main", author_id="ja"))):
        print(f"{book.title}, by {book.author_name}")
