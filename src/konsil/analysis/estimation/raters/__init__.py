"""What single raters add: notes, samples of raters, each rater left out."""
