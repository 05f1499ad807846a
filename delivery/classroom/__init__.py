"""A class that answers together: the server that `make class` starts, and the board of the teacher."""
