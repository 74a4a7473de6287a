"""The demo study as package data: real medical facts, fictional systems, a simulated panel."""
