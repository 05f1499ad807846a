"""What real ranks do that wait for each other: processes that reduce over gloo, on one machine."""
