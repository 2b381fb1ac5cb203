"""What a release is kept in: one file, which can be read without trust."""
