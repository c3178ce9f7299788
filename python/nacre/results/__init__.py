"""What commands and functions return, as plain data: no file, no figure, no sentence."""
