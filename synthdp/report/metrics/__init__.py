"""One table against another: what each metric is, one idea a file."""
