"""A small DynamoDB in plain Python, written from what is documented of AWS, not from the engine.

It exists to disagree with the engine. Nothing is shared with it but the wire format: no parser
(the generator makes *trees*, prints them as expressions for the engine and hands the trees to the
model), no number code (Python's `Decimal`), no storage (dicts).

values       attribute values as comparable Python tuples
trees        conditions, updates, projections and key conditions, as data
printing     a tree as the text and placeholders of a request
legacy       a tree as the parameters from before expressions
evaluation   what a condition says of an item
updates      what an update makes of an item, what a projection leaves of it
designs      the tables of the fuzz
universe     the few keys, names and values that everything is made of
operations   one call, as data; and as the request that asks for it
statements   the same call as a statement of PartiQL; spoken says what the model foretells of it
faults       one mistake in a request, and the error that AWS documents for it:
             key_faults, expression_faults and read_faults are those we plant
conditions   expression trees from a seed
strategies   operations from a seed, runs from Hypothesis
tables       a table of the model and its indexes
mistakes     what is wrong with expressions, whatever the tables hold
model        the tables and what each operation does to them
reads        Query and Scan of the model
transactions TransactWriteItems of the model
outcomes     what may come back, and whether it is what the model foretold
targets      the engine, moto and dynalite behind one call
mutants      engines that are wrong in one way, to be caught
machine      a run: the same operations on the model and on the targets
recovery     runs whose tables are restored, exported and imported
regions      runs on tables with a replica
settings     runs on what is set of tables: the steps of those below, in any order
settings_run the tables of such a run, and how an answer is compared
insights     contributor insights
destinations Kinesis destinations
table_states resource policies, tags, time to live, point-in-time recovery
backup_lists backups listed, described and deleted
stream_reads streams listed, described and read
transfers    runs on exports, imports and bulk puts
transfer_run such a run: what each is asked for, and what is told of it
sources      files in a bucket, to be imported or put
exports, imports, bulk_puts
             how each of them starts, runs and ends
constant_calls calls that no setting changes, requests that lack a member
access       runs as a user with policies, and whether they allow an operation
exclusions   which operations the rules below keep out
features     what an operation has in it, for those rules
campaign     run after run until enough operations were compared
differences  where a second opinion is known to be wrong, with AWS's word on it
"""
