"""What comes after a stop: iterators that are saved at an element, and restored into new ones.

A program is a text in the library's own words, with the few names that its module here defines.
"""
