"""The files besides the page: data, further files, and changes to them by others."""
