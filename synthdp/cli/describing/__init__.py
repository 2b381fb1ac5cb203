"""What a person reads: descriptions of files, checks of schemas, the noise to expect."""
