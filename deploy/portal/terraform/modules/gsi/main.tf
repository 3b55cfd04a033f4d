# In this provider an index is a block of its table, and no resource of its own: this module only
# checks the declared indexes (see variables.tf), and hands them on to the module dynamodb_table.
