"""Where the parts of a large computation run: in this process, on this machine's cores, on Dask.

The results come in the order of the parts, so that they do not depend on where or when they ran.
"""
