"""What is public about a table: columns, kinds, rules, generated columns."""
