"""The blocks of code in a page of Markdown."""

import re

# The language of each block, and its text
BLOCKS = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
