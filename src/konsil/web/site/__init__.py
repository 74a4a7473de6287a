"""One study's pages: its services, who may see what, templates."""
