"""Runs the migrations on the connection of konsil.store.engine.migrate.

They run inside its transaction.
"""

from alembic import context

context.configure(connection=context.config.attributes["connection"], transactional_ddl=True)
with context.begin_transaction():
    context.run_migrations()
