"""The book foretells what the engine does: else no crash could be judged by it."""

from __future__ import annotations

from bigtime.engine import Engine
from proofs import audit
from proofs.ledger import WRITERS, Book, create_table, write

WRITES = 60


def fill(engine: Engine, book: Book) -> None:
    engine(create_table())
    for _ in range(WRITES):
        for writer in range(WRITERS):
            engine(book.carry_out(writer).request())


def test_the_book_holds_what_the_table_holds(engine: Engine) -> None:
    book = Book(seed=3)
    fill(engine, book)
    assert audit.items(engine) == book.items
    assert audit.index_faults(engine, book.items) == []
    assert audit.count_faults(engine, book.items) == []
    assert audit.stream_faults(audit.StreamReader().new_changes(engine), book) == []


def test_the_ledger_uses_every_kind_of_write() -> None:
    asked = [write(3, 0, number) for number in range(1, 200)]
    kinds = {action.kind for each in asked for action in each.actions}
    assert kinds == {"Put", "Update", "Delete"}
    assert any(each.token and not each.is_replay for each in asked)
    assert any(each.is_replay for each in asked)


def test_an_audit_misses_no_item_and_no_change(engine: Engine) -> None:
    book = Book(seed=4)
    fill(engine, book)
    grouped = next(name for name, item in book.items.items() if "group" in item)
    del book.items[grouped]
    book.changes[grouped].pop()
    assert audit.items(engine) != book.items
    assert audit.index_faults(engine, book.items)
    assert audit.count_faults(engine, book.items)
    assert audit.stream_faults(audit.StreamReader().new_changes(engine), book)


def test_a_writer_is_foretold_one_write_ahead() -> None:
    book = Book(seed=5)
    for _ in range(50):
        foretold = book.next_of(2)
        book.carry_out(2)
        assert book.of(2) == foretold
