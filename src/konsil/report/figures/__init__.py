"""Figures as SVG and PDF: typeface, marks, axes, and the kinds of charts."""
