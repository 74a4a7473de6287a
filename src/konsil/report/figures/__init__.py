"""Figures as SVG, in other formats on demand: typeface, marks, axes, and the kinds of charts."""
