"""Comparisons of two answers: votes, wins, worths of Bradley, Terry and Davidson, rankings."""
