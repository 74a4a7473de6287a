"""The codebook to print, as a page and as a PDF."""
