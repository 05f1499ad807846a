"""The lessons as a site: static files, with Python in the page and nothing to install."""
