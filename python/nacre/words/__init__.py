"""What results say to people, as sentences and tables, a module for each kind."""
