"""The application: routes, middleware, server."""
