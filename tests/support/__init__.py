"""What tests share; nothing outside of tests imports it."""
