"""Three ways into a room: a site, a class that answers together, and a Hub."""
