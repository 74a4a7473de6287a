"""What is asked: answers, judgements, preparation; votes of several calls."""
