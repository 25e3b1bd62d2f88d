"""One module for each command; `command` is what the group looks for."""
